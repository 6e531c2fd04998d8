import type { Text } from './text.js';

/** The title of every problem, by its code. */
export const problemTitles = {
  unauthenticated: { en: 'The token is missing or invalid.', nl: 'Het token ontbreekt of is ongeldig.' },
  keys_unavailable: {
    en: 'The keys of the token issuer are unavailable.',
    nl: 'De sleutels van de tokenuitgever zijn niet beschikbaar.',
  },
  scope_missing: { en: 'The token does not allow this.', nl: 'Het token staat dit niet toe.' },
  invalid_request: { en: 'The request is invalid.', nl: 'Het verzoek is ongeldig.' },
  invalid_subscription: { en: 'The subscription is invalid.', nl: 'Het abonnement is ongeldig.' },
  invalid_event: { en: 'The event is invalid.', nl: 'De gebeurtenis is ongeldig.' },
  event_too_large: {
    en: 'The event is larger than its profile allows.',
    nl: 'De gebeurtenis is groter dan het profiel toestaat.',
  },
  body_too_large: { en: 'The body is too large.', nl: 'De body is te groot.' },
  media_type_unsupported: {
    en: 'This operation does not accept this media type.',
    nl: 'Deze bewerking accepteert dit mediatype niet.',
  },
  headers_too_large: { en: 'The headers are too large.', nl: 'De headers zijn te groot.' },
  request_timeout: {
    en: 'The request took too long to arrive.',
    nl: 'Het duurde te lang voordat het verzoek binnen was.',
  },
  not_found: { en: 'There is nothing at this address.', nl: 'Op dit adres is niets te vinden.' },
  method_not_allowed: {
    en: 'This resource does not support this method.',
    nl: 'Deze resource ondersteunt deze methode niet.',
  },
  origin_not_found: { en: 'This origin does not exist.', nl: 'Deze afzender bestaat niet.' },
  origin_exists: { en: 'This origin already exists.', nl: 'Deze afzender bestaat al.' },
  default_origin_exists: {
    en: 'The tenant already has another default origin.',
    nl: 'De organisatie heeft al een andere standaardafzender.',
  },
  origin_in_use: { en: 'Subscriptions still use this origin.', nl: 'Er zijn nog abonnementen op deze afzender.' },
  no_default_origin: { en: 'The tenant has no default origin.', nl: 'De organisatie heeft geen standaardafzender.' },
  quota_exceeded: {
    en: 'The tenant has reached its quota of subscriptions.',
    nl: 'De organisatie heeft het maximale aantal abonnementen bereikt.',
  },
  subscription_not_allowed: {
    en: 'The rules of the origin do not allow this subscription.',
    nl: 'De regels van de afzender staan dit abonnement niet toe.',
  },
  subscription_not_found: { en: 'This subscription does not exist.', nl: 'Dit abonnement bestaat niet.' },
  handshake_not_found: { en: 'This handshake does not exist.', nl: 'Deze handshake bestaat niet.' },
  block_not_found: { en: 'This block does not exist.', nl: 'Deze blokkade bestaat niet.' },
  grant_not_found: { en: 'This grant does not exist.', nl: 'Deze grant bestaat niet.' },
  not_permitted: {
    en: 'The origin has no permission to send to this sink.',
    nl: 'De afzender mag niet naar deze sink sturen.',
  },
  rate_used_up: {
    en: 'The rate is used up for now.',
    nl: 'Het toegestane aantal verzoeken is voor nu bereikt.',
  },
  lease_not_found: { en: 'This lease does not exist.', nl: 'Deze lease bestaat niet.' },
  match_too_expensive: {
    en: 'The filters need too many steps for this message.',
    nl: 'De filters hebben te veel stappen nodig voor dit bericht.',
  },
  filters_too_expensive: { en: 'The filters are too expensive.', nl: 'De filters zijn te duur.' },
  callback_undecided: { en: 'Nothing was decided.', nl: 'Er is niets besloten.' },
  callback_unknown: { en: 'This link is invalid or has expired.', nl: 'Deze link is ongeldig of verlopen.' },
  callback_rate_malformed: {
    en: 'WebHook-Allowed-Rate is malformed.',
    nl: 'WebHook-Allowed-Rate is onjuist opgebouwd.',
  },
  precondition_failed: {
    en: 'The resource changed, so the condition of the request fails.',
    nl: 'De resource is gewijzigd, dus de voorwaarde van het verzoek klopt niet meer.',
  },
  etag_altered: {
    en: 'A proxy altered the ETag that If-Match repeats.',
    nl: 'Een proxy heeft de ETag gewijzigd die in If-Match staat.',
  },
  idempotency_key_reused: {
    en: 'This Idempotency-Key was already used for another request.',
    nl: 'Deze Idempotency-Key is al voor een ander verzoek gebruikt.',
  },
  suspended_by_admin: {
    en: 'An admin suspended this subscription.',
    nl: 'Een beheerder heeft dit abonnement onderbroken.',
  },
  blocked: { en: 'An admin blocks this.', nl: 'Een beheerder blokkeert dit.' },
  grant_revoked: { en: 'An admin revoked this grant.', nl: 'Een beheerder heeft deze grant ingetrokken.' },
  conflict: { en: 'The current state does not allow this.', nl: 'De huidige toestand laat dit niet toe.' },
  database_unavailable: { en: 'The database is unavailable.', nl: 'De database is niet beschikbaar.' },
  database_read_only: {
    en: 'The database accepts no changes at the moment.',
    nl: 'De database accepteert op dit moment geen wijzigingen.',
  },
  read_only: { en: 'This process is read-only.', nl: 'Dit proces kan alleen lezen.' },
  revision_not_reached: {
    en: 'This process has not reached this revision yet.',
    nl: 'Dit proces heeft deze revisie nog niet bereikt.',
  },
  cursor_too_old: { en: 'The cursor is too old.', nl: 'De cursor is te oud.' },
  cursor_of_other_history: {
    en: 'The cursor belongs to another history of the database.',
    nl: 'De cursor hoort bij een andere geschiedenis van de database.',
  },
  too_many_readers: {
    en: 'The tenant has too many feed readers.',
    nl: 'De organisatie heeft te veel lezers van de feed.',
  },
  too_many_handshakes: {
    en: 'The tenant has too many handshakes waiting.',
    nl: 'De organisatie heeft te veel wachtende handshakes.',
  },
  feed_full: { en: 'This process has too many feed readers.', nl: 'Dit proces heeft te veel lezers van de feed.' },
  index_loading: { en: 'The index is still loading.', nl: 'De index wordt nog geladen.' },
  stopping: { en: 'The service is stopping.', nl: 'De dienst stopt.' },
  internal: { en: 'The service failed.', nl: 'Er ging iets mis in de dienst.' },
} satisfies Record<string, Text>;
