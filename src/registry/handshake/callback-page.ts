import type { Rate } from '../../consent/rate.js';
import { entry, escapeHtml, htmlPage, timeMarkup } from '../http/html-page.js';
import { decisionTexts, pageTexts, questionTexts, timeText } from '../../base/texts/callback-page.js';
import { textOf, type Language, type Text } from '../../base/texts/text.js';
import type { CallbackOutcome } from './callback.js';
import type { AskedFor, OwnerQuestion } from './callback-question.js';

/** What a person sees at a callback URL: the question with its form, or what was decided. */
export function callbackPage(asked: OwnerQuestion | CallbackOutcome, language: Language): string {
  return asked.kind === 'open' ? questionPage(asked, language) : outcomePage(asked, language);
}

/** Other pages still learn no address from this one. Without it, browsers send the form with `Origin: null`. */
const ownForm = '<meta name="referrer" content="same-origin">\n';

const maxTypes = 10;
const maxCharacters = 200;

/**
 * The form posts to the URL of the page, which contains the key, so the key is not in the page itself. `wrongRate`: what
 * was entered and is not a rate.
 */
export function questionPage(asked: OwnerQuestion, language: Language, wrongRate?: string): string {
  const { origin, sink, rate, grantedUntil, isRenewal, until, subscriptions, hasMore } = asked;
  const texts = questionTexts;
  const say = (content: Text) => content[language];
  const present =
    grantedUntil === undefined
      ? texts.unlessAllowed
      : (isRenewal ? texts.renewal : texts.besideConsent)(timeTextOf(grantedUntil));
  const isWrong = wrongRate !== undefined;
  return htmlPage(
    language,
    say(texts.title),
    `<p>${escapeHtml(say(texts.lead(origin)))} ${say(present)}</p>
<dl>
${pairEntries(origin, sink, language)}${subscriptions.map((each) => askedForEntries(each, asked, language)).join('')}${
      rateEntry(rate, language) + entry(say(texts.until), timeMarkup(until, language))
    }</dl>
${hasMore ? `<p>${say(texts.askedForMore)}</p>\n` : ''}<form method="post">
<label for="rate">${say(texts.rateLabel)}</label>
<p class="hint" id="hint">${say(texts.rateHint)}</p>
${isWrong ? `<p class="error" id="wrong">${say(texts.rateWrong)}</p>\n` : ''}<p><input id="rate" name="rate" inputmode="numeric" maxlength="15" autocomplete="off" aria-describedby="hint${
      isWrong ? ` wrong" aria-invalid="true" value="${escapeHtml(wrongRate)}" autofocus` : '"'
    }></p>
<p class="actions"><button class="first" name="decision" value="allow">${say(texts.allow)}</button>
<button name="decision" value="refuse">${say(texts.refuse)}</button></p>
</form>`,
    ownForm,
  );
}

function outcomePage(outcome: CallbackOutcome, language: Language): string {
  const { origin, sink, isFirst } = outcome;
  const { given, givenBefore, maySend, refused, refusal, earlier, anew, before, close, until } = decisionTexts;
  const say = (...texts: Text[]) => texts.map((each) => each[language]).join(' ');
  const decidedBefore = isFirst ? [] : [before];
  if (outcome.kind === 'refused') {
    const { grantedUntil } = outcome;
    const present = grantedUntil === undefined ? [] : [earlier(timeTextOf(grantedUntil))];
    return htmlPage(
      language,
      say(refused),
      `<p>${say(refusal, ...present, ...decidedBefore, anew, close)}</p>
<dl>
${pairEntries(origin, sink, language)}</dl>`,
    );
  }
  return htmlPage(
    language,
    say(isFirst ? given : givenBefore),
    `<p>${say(maySend, ...decidedBefore, close)}</p>
<dl>
${pairEntries(origin, sink, language)}${rateEntry(outcome.allowedRate, language)}${entry(say(until), timeMarkup(outcome.expiresAt, language))}</dl>`,
  );
}

function timeTextOf(time: Date): Text {
  return textOf((language) => timeText(time, language));
}

/** Without the query of the sink, which may contain a secret. */
function pairEntries(origin: string, sink: string, language: Language): string {
  return (
    entry(pageTexts.origin[language], escapeHtml(origin)) +
    entry(pageTexts.webhook[language], escapeHtml(sink.split('?')[0] ?? ''))
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
