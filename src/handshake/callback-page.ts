import { entry, escapeHtml, htmlPage, timeMarkup } from '../http/html-page.js';
import { pageTexts, timeText, type PageTexts } from '../texts/callback-page.js';
import type { Language } from '../texts/text.js';
import type { CallbackOutcome } from './callback.js';
import type { AskedFor, OwnerQuestion } from './callback-question.js';

/** What a person sees at a callback URL: the question with its form, or what was decided. */
export function callbackPage(asked: OwnerQuestion | CallbackOutcome, language: Language): string {
  return asked.kind === 'open' ? questionPage(asked, language) : outcomePage(asked, language);
}

const mostTypes = 10;
const mostCharacters = 200;

/**
 * The form goes to the address of the page, which holds the key; so the key is not in the page. `wrongRate`: what was
 * entered and is no rate.
 */
export function questionPage(asked: OwnerQuestion, language: Language, wrongRate?: string): string {
  const texts = pageTexts[language];
  const { question } = texts;
  const { origin, sink, rate, grantedUntil, isRenewal, until, subscriptions, hasMore } = asked;
  const present =
    grantedUntil === undefined
      ? question.unlessAllowed
      : question.grantedUntil(timeText(grantedUntil, language), isRenewal);
  const isWrong = wrongRate !== undefined;
  return htmlPage(
    language,
    question.title,
    `<p>${escapeHtml(question.lead(origin))} ${present}</p>
<dl>
${pairEntries(origin, sink, texts)}${subscriptions.map((each) => askedForEntries(each, asked, texts)).join('')}${
      entry(texts.rate, texts.rateOf(rate)) + entry(question.until, timeMarkup(until, language))
    }</dl>
${hasMore ? `<p>${question.askedForMore}</p>\n` : ''}<form method="post">
<label for="rate">${question.rateLabel}</label>
<p class="hint" id="hint">${question.rateHint}</p>
${isWrong ? `<p class="error" id="wrong">${question.rateWrong}</p>\n` : ''}<p><input id="rate" name="rate" inputmode="numeric" maxlength="15" autocomplete="off" aria-describedby="hint${
      isWrong ? ` wrong" aria-invalid="true" value="${escapeHtml(wrongRate)}" autofocus` : '"'
    }></p>
<p class="actions"><button class="first" name="decision" value="allow">${question.allow}</button>
<button name="decision" value="refuse">${question.refuse}</button></p>
</form>`,
  );
}

function outcomePage(outcome: CallbackOutcome, language: Language): string {
  const texts = pageTexts[language];
  const { origin, sink, isFirst } = outcome;
  const { given, stands, maySend, refused, refusal, goesOn, anew, before, close, until } = texts.outcome;
  const decidedBefore = isFirst ? [] : [before];
  if (outcome.kind === 'refused') {
    const { grantedUntil } = outcome;
    const present = grantedUntil === undefined ? [] : [goesOn(timeText(grantedUntil, language))];
    const sentences = [refusal, ...present, ...decidedBefore, anew, close];
    return htmlPage(language, refused, `<p>${sentences.join(' ')}</p>\n<dl>\n${pairEntries(origin, sink, texts)}</dl>`);
  }
  return htmlPage(
    language,
    isFirst ? given : stands,
    `<p>${[maySend, ...decidedBefore, close].join(' ')}</p>
<dl>
${pairEntries(origin, sink, texts)}${entry(texts.rate, texts.rateOf(outcome.allowedRate))}${entry(until, timeMarkup(outcome.expiresAt, language))}</dl>`,
  );
}

/** The query of a sink may hold a secret. */
function pairEntries(origin: string, sink: string, { sender, webhook }: PageTexts): string {
  return entry(sender, escapeHtml(origin)) + entry(webhook, escapeHtml(sink.split('?')[0] ?? ''));
}

function askedForEntries(
  { subscriber, source, types, filteredBy }: AskedFor,
  { tenant }: OwnerQuestion,
  { question }: PageTexts,
): string {
  const shown = types.slice(0, mostTypes).map(text);
  const more = types.length > mostTypes ? [question.more(types.length - mostTypes)] : [];
  const names = filteredBy.map((name) => (name === 'sql' ? question.expression : name));
  return (
    entry(question.askedBy, text(`${subscriber} (${tenant})`)) +
    entry(question.events, types.length === 0 ? question.everyType : [...shown, ...more].join('<br>')) +
    (source === undefined ? '' : entry(question.source, text(source))) +
    (names.length === 0 ? '' : entry(question.filteredBy, text(names.join(', '))))
  );
}

/** Cut, and without characters that would write the other way round. */
function text(value: string): string {
  const [...characters] = value.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '\ufffd');
  const cut =
    characters.length > mostCharacters ? `${characters.slice(0, mostCharacters).join('')}…` : characters.join('');
  return escapeHtml(cut);
}
