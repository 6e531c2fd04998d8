import type { Rate } from '../../consent/rate.js';
import { entry, escapeHtml, narrowPage, operatorMarkup, timeMarkup, type Site } from '../http/html-page.js';
import { decisionTexts, pageTexts, questionTexts, timeText } from '../../base/texts/callback-page.js';
import { languages, textOf, type Language, type Text } from '../../base/texts/text.js';
import type { CallbackOutcome } from './callback.js';
import type { AskedFor, OwnerQuestion } from './callback-question.js';

/** How a page of a callback URL is shown. */
interface Shown {
  language: Language;
  site: Site;
}

/** What a person sees at a callback URL: the question with its form, or what was decided. */
export function callbackPage(asked: OwnerQuestion | CallbackOutcome, shown: Shown): string {
  return asked.kind === 'open' ? questionPage(asked, shown) : outcomePage(asked, shown);
}

/** The addresses of these pages are `/v1/callbacks/{handshake}`, maybe below the path of a proxy. */
const root = '../../';

/** Browsers send the form with `Origin: null` otherwise. The address, which has the key, is in no `Referer`. */
const ownForm = '<meta name="referrer" content="strict-origin">\n';

const maxTypes = 10;
const maxCharacters = 200;

/**
 * The forms post to the URL of the page, which contains the key, so the key is not in the page itself. `wrongRate`: what
 * was entered and is not a rate.
 */
export function questionPage(asked: OwnerQuestion, { language, site }: Shown, wrongRate?: string): string {
  const {
    origin,
    description,
    isVerified,
    verifiedKey,
    sink,
    rate,
    grantedUntil,
    isRenewal,
    until,
    subscriptions,
    hasMore,
  } = asked;
  const texts = questionTexts;
  const say = (content: Text) => content[language];
  const present =
    grantedUntil === undefined
      ? texts.unlessAllowed
      : (isRenewal ? texts.renewal : texts.besideConsent)(timeTextOf(grantedUntil));
  const otherwise =
    grantedUntil === undefined ? texts.nothingIsSent : isRenewal ? texts.consentRunsOut : texts.consentStays;
  const who = strong(origin) + (description === undefined ? '' : ` (${text(description)})`);
  const owner =
    verifiedKey === undefined ? texts.verifiedTenant(text(origin)) : texts.verified(text(origin), text(verifiedKey));
  const proof = isVerified ? owner : texts.unverified;
  const isWrong = wrongRate !== undefined;
  return page(
    { language, site },
    say(texts.title),
    `<p class="lead">${say(texts.lead(who, strong(shownSink(sink)), pageTexts.rateOf(rate)))} ${say(present)}</p>
<div class="card">
<dl class="facts">
${pairEntries(origin, sink, language)}${entry(say(texts.proof), say(proof))}${subscriptions.map((each) => askedForEntries(each, asked, language)).join('')}${
      rateEntry(rate, language) + entry(say(texts.until), timeMarkup(until, language))
    }</dl>
${hasMore ? `<p>${say(texts.askedForMore)}</p>\n` : ''}<form method="post">
<input type="hidden" name="language" value="${language}">
<label for="rate">${say(texts.rateLabel)}</label>
<p class="soft" id="hint">${say(texts.rateHint)}</p>
${isWrong ? `<p class="wrong" id="wrong">${say(texts.rateWrong)}</p>\n` : ''}<input id="rate" name="rate" inputmode="numeric" maxlength="15" autocomplete="off" aria-describedby="hint${
      isWrong ? ` wrong" aria-invalid="true" value="${escapeHtml(wrongRate)}" autofocus` : '"'
    }>
<p class="actions"><button class="first" name="decision" value="allow">${say(texts.allow)}</button>
<button name="decision" value="refuse">${say(texts.refuse)}</button></p>
</form>
</div>
<h2>${say(texts.why)}</h2>
<p>${say(texts.whyText)}</p>
<h2>${say(texts.nothing)}</h2>
<p>${say(otherwise)}</p>
<h2>${say(texts.who)}</h2>
<p>${operatorMarkup(site, language)}</p>
<p>${say(texts.assent)} <a href="${root}guides/consumers/receive" hreflang="en">${say(texts.guide)}</a></p>`,
    ownForm,
  );
}

function outcomePage(outcome: CallbackOutcome, shown: Shown): string {
  const { origin, sink, isFirst } = outcome;
  const { language, site } = shown;
  const texts = decisionTexts;
  const say = (...parts: Text[]) => parts.map((each) => each[language]).join(' ');
  const decidedBefore = isFirst ? [] : [texts.before];
  if (outcome.kind === 'refused') {
    const { grantedUntil } = outcome;
    const present = grantedUntil === undefined ? [] : [texts.earlier(timeTextOf(grantedUntil))];
    return page(
      shown,
      say(texts.refused),
      `<p class="lead">${say(texts.refusal, ...present, ...decidedBefore, texts.anew, texts.close)}</p>
<div class="card"><dl class="facts">
${pairEntries(origin, sink, language)}</dl></div>`,
    );
  }
  const pair = texts.maySend(strong(origin), strong(shownSink(sink)));
  return page(
    shown,
    say(isFirst ? texts.given : texts.givenBefore),
    `<p class="lead">${say(pair, ...decidedBefore, texts.close)}</p>
<div class="card"><dl class="facts">
${pairEntries(origin, sink, language)}${rateEntry(outcome.allowedRate, language)}${entry(say(texts.until), timeMarkup(outcome.expiresAt, language))}</dl></div>
<h2>${say(texts.takeBack)}</h2>
<p>${say(texts.takeBackText)}</p>
<p>${operatorMarkup(site, language)}</p>`,
  );
}

/** The other language is a form, because a link would have the key in the page. Without a decision it decides nothing. */
function page({ language, site }: Shown, title: string, content: string, head = ''): string {
  const others = languages.filter((each) => each !== language);
  const buttons = others.map(
    (each) =>
      `<button class="quiet" name="language" value="${each}" lang="${each}">${pageTexts.languages[each]}</button>\n`,
  );
  const menu = `<form method="post">${buttons.join('')}</form>\n`;
  return narrowPage({ site, language, root, title, menu, head, content, script: 'local-time.js' });
}

const strong = (value: string) => `<strong>${text(value)}</strong>`;

/** Without the query, which may contain a secret. */
const shownSink = (sink: string) => sink.split('?')[0] ?? '';

function timeTextOf(time: Date): Text {
  return textOf((language) => timeText(time, language));
}

function pairEntries(origin: string, sink: string, language: Language): string {
  return (
    entry(pageTexts.origin[language], escapeHtml(origin)) +
    entry(pageTexts.webhook[language], escapeHtml(shownSink(sink)))
  );
}

function rateEntry(rate: Rate, language: Language): string {
  return entry(pageTexts.rate[language], pageTexts.rateOf(rate)[language]);
}

function askedForEntries(
  { subscriber, source, types, filteredBy }: AskedFor,
  { tenant }: OwnerQuestion,
  language: Language,
): string {
  const { askedBy, events, everyType, more, source: fromSource, filteredBy: byFilter, expression } = questionTexts;
  const shown = types.slice(0, maxTypes).map(text);
  const left = types.length > maxTypes ? [more(types.length - maxTypes)[language]] : [];
  const names = filteredBy.map((name) => (name === 'sql' ? expression[language] : name));
  return (
    entry(askedBy[language], text(`${subscriber} (${tenant})`)) +
    entry(events[language], types.length === 0 ? everyType[language] : [...shown, ...left].join('<br>')) +
    (source === undefined ? '' : entry(fromSource[language], text(source))) +
    (names.length === 0 ? '' : entry(byFilter[language], text(names.join(', '))))
  );
}

/** Truncated, and without characters that change the direction of the text. */
function text(value: string): string {
  const [...characters] = value.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '\ufffd');
  const cut =
    characters.length > maxCharacters ? `${characters.slice(0, maxCharacters).join('')}…` : characters.join('');
  return escapeHtml(cut);
}
