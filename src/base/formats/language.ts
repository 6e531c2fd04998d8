import Negotiator from 'negotiator';
import { languages, type Language } from '../texts/text.js';

/** The language of a response, from `Accept-Language` (RFC 9110 section 12.5.4). English if none of ours is accepted. */
export function languageOf(acceptLanguage: string | undefined): Language {
  if (acceptLanguage === undefined) return 'en';
  const negotiator = new Negotiator({ headers: { 'accept-language': acceptLanguage } });
  return (negotiator.language([...languages]) ?? 'en') as Language;
}
