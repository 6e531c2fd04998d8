import type { Text } from './texts/text.js';

interface Kind {
  status: number;
  /** In the documentation, after the title. */
  when: string;
  title: Text;
}

/**
 * Every problem that the API, or `assent egress`, returns. Each fact has one code, and so one status:
 *
 *   400  the request breaks a rule that it could have kept; 413, 415, 431: of its size or media type
 *   403  the caller may not: a scope, an admin's decision, or a limit that waiting does not lift
 *   404  what the request names does not exist, for this caller
 *   409  the state of something else does not allow it
 *   429  a limit that waiting lifts, and 503 what the registry itself lacks now; both with `Retry-After`
 *   502  and 504: only `assent egress`, in place of a response of a webhook
 */
export const problems = {
  unauthenticated: {
    status: 401,
    when: 'The request has no token, or one that is invalid or expired. `faults` says which rule of tokens it breaks.',
    title: { en: 'The token is missing or invalid.', nl: 'Het token ontbreekt of is ongeldig.' },
  },
  keys_unavailable: {
    status: 503,
    when: 'The issuer of the token does not respond, so nothing can be said about the token.',
    title: {
      en: 'The keys of the token issuer are unavailable.',
      nl: 'De sleutels van de tokenuitgever zijn niet beschikbaar.',
    },
  },
  scope_missing: {
    status: 403,
    when: 'The token lacks a scope, or its issuer may not name the tenant.',
    title: { en: 'The token does not allow this.', nl: 'Het token staat dit niet toe.' },
  },
  invalid_request: {
    status: 400,
    when: 'A parameter, a header or a member breaks the contract. `faults` has each place.',
    title: { en: 'The request is invalid.', nl: 'Het verzoek is ongeldig.' },
  },
  invalid_subscription: {
    status: 400,
    when: 'A member of a subscription breaks a rule. `faults` has each place.',
    title: { en: 'The subscription is invalid.', nl: 'Het abonnement is ongeldig.' },
  },
  invalid_event: {
    status: 400,
    when: 'An event breaks a MUST of its profile. `faults` has each rule.',
    title: { en: 'The event is invalid.', nl: 'De gebeurtenis is ongeldig.' },
  },
  event_too_large: {
    status: 413,
    when: 'An event is larger than the profile of its origin allows.',
    title: {
      en: 'The event is larger than its profile allows.',
      nl: 'De gebeurtenis is groter dan het profiel toestaat.',
    },
  },
  body_too_large: {
    status: 413,
    when: 'A body has more bytes, or a batch more events, than the operation accepts.',
    title: { en: 'The body is too large.', nl: 'De body is te groot.' },
  },
  media_type_unsupported: {
    status: 415,
    when: 'The operation does not accept this `Content-Type` or `Content-Encoding`.',
    title: {
      en: 'This operation does not accept this media type.',
      nl: 'Deze bewerking accepteert dit mediatype niet.',
    },
  },
  transfer_coding_unsupported: {
    status: 501,
    when: '`Transfer-Encoding` has another coding than `chunked`.',
    title: {
      en: 'The server does not know this transfer coding.',
      nl: 'De server kent deze transfer-codering niet.',
    },
  },
  headers_too_large: {
    status: 431,
    when: 'The headers have more bytes than the server reads.',
    title: { en: 'The headers are too large.', nl: 'De headers zijn te groot.' },
  },
  request_timeout: {
    status: 408,
    when: 'A request did not arrive whole in time.',
    title: { en: 'The request took too long to arrive.', nl: 'Het duurde te lang voordat het verzoek binnen was.' },
  },
  not_found: {
    status: 404,
    when: 'No operation has this path.',
    title: { en: 'There is nothing at this address.', nl: 'Op dit adres is niets te vinden.' },
  },
  method_not_allowed: {
    status: 405,
    when: 'The path has no operation with this method. `Allow` lists those that it has.',
    title: { en: 'This resource does not support this method.', nl: 'Deze resource ondersteunt deze methode niet.' },
  },
  origin_not_found: {
    status: 404,
    when: 'A path, a parameter or a body names an origin that the tenant does not have.',
    title: { en: 'This origin does not exist.', nl: 'Deze herkomst bestaat niet.' },
  },
  certificate_not_found: {
    status: 404,
    when: 'A client certificate is removed, and the origin has none.',
    title: {
      en: 'The origin has no client certificate.',
      nl: 'De herkomst heeft geen clientcertificaat.',
    },
  },
  origin_exists: {
    status: 409,
    when: 'The name of a new origin is taken.',
    title: { en: 'This origin already exists.', nl: 'Deze herkomst bestaat al.' },
  },
  origin_not_verified: {
    status: 409,
    when: 'You register a subscription, or change what it receives, for an origin without the proof of its name that the operator requires.',
    title: {
      en: 'The name of this origin is not verified.',
      nl: 'De naam van deze herkomst is niet geverifieerd.',
    },
  },
  origin_in_use: {
    status: 409,
    when: 'You delete an origin that has subscriptions.',
    title: { en: 'Subscriptions still use this origin.', nl: 'Er zijn nog abonnementen op deze herkomst.' },
  },
  key_not_found: {
    status: 404,
    when: 'The origin has no key with this id.',
    title: { en: 'This key does not exist.', nl: 'Deze sleutel bestaat niet.' },
  },
  key_exists: {
    status: 409,
    when: 'You bring a key that the origin has, or had.',
    title: { en: 'The origin already has this key.', nl: 'De herkomst heeft deze sleutel al.' },
  },
  no_default_origin: {
    status: 409,
    when: 'A request names no origin, and the tenant has no default one.',
    title: { en: 'The tenant has no default origin.', nl: 'De organisatie heeft geen standaardherkomst.' },
  },
  quota_exceeded: {
    status: 403,
    when: 'The tenant has as many subscriptions, or blocks, as it may have; or an origin as many keys.',
    title: { en: 'The tenant has reached its quota.', nl: 'De organisatie heeft het maximum bereikt.' },
  },
  subscription_not_allowed: {
    status: 403,
    when: 'The subscription rules of the origin do not allow every event that the subscription could match.',
    title: {
      en: 'The rules of the origin do not allow this subscription.',
      nl: 'De regels van de herkomst staan dit abonnement niet toe.',
    },
  },
  subscription_not_found: {
    status: 404,
    when: 'The id is unknown, or belongs to another subscriber.',
    title: { en: 'This subscription does not exist.', nl: 'Dit abonnement bestaat niet.' },
  },
  handshake_not_found: {
    status: 404,
    when: 'The subscription has no such handshake.',
    title: { en: 'This handshake does not exist.', nl: 'Deze handshake bestaat niet.' },
  },
  grant_not_found: {
    status: 404,
    when: 'The tenant has no such grant.',
    title: { en: 'This grant does not exist.', nl: 'Deze grant bestaat niet.' },
  },
  public_url_missing: {
    status: 409,
    when: 'A response would need the address of the registry, and its operator has not set one.',
    title: { en: 'The registry has no public URL.', nl: 'Het register heeft geen openbare URL.' },
  },
  block_not_found: {
    status: 404,
    when: 'There is no such block, or it was lifted.',
    title: { en: 'This block does not exist.', nl: 'Deze blokkade bestaat niet.' },
  },
  not_permitted: {
    status: 403,
    when: 'A sender or a gateway asks for a delivery that has no consent, or a client for the token of a grant that allows nothing now. `faults` says why.',
    title: {
      en: 'The origin has no permission to send to this sink.',
      nl: 'De herkomst mag niet naar deze sink sturen.',
    },
  },
  rate_used_up: {
    status: 429,
    when: 'A gateway has no request left of the rate.',
    title: { en: 'The rate is used up for now.', nl: 'Het toegestane aantal verzoeken is voor nu bereikt.' },
  },
  lease_not_found: {
    status: 404,
    when: 'The lease is unknown, or too old to return.',
    title: { en: 'This lease does not exist.', nl: 'Deze lease bestaat niet.' },
  },
  match_too_expensive: {
    status: 403,
    when: 'The filters of the origin need more steps for this event than one may use.',
    title: {
      en: 'The filters need too many steps for this event.',
      nl: 'De filters hebben te veel stappen nodig voor deze gebeurtenis.',
    },
  },
  filters_too_expensive: {
    status: 403,
    when: 'The filters of a subscription cost more than its subscriber or tenant may use.',
    title: { en: 'The filters are too expensive.', nl: 'De filters zijn te duur.' },
  },
  callback_unknown: {
    status: 404,
    when: 'The key of a callback URL is wrong or has expired, or its handshake was closed.',
    title: { en: 'This link is invalid or has expired.', nl: 'Deze link is ongeldig of verlopen.' },
  },
  callback_undecided: {
    status: 409,
    when: 'The callback page was sent without a decision.',
    title: { en: 'Nothing was decided.', nl: 'Er is niets besloten.' },
  },
  callback_rate_malformed: {
    status: 400,
    when: 'A callback has a `WebHook-Allowed-Rate` that is no rate.',
    title: { en: 'WebHook-Allowed-Rate is malformed.', nl: 'WebHook-Allowed-Rate is niet geldig.' },
  },
  precondition_failed: {
    status: 412,
    when: '`If-Match` names another version than the present one, or `If-None-Match` the present one.',
    title: {
      en: 'The resource changed, so the condition of the request fails.',
      nl: 'De resource is gewijzigd, dus de voorwaarde van het verzoek klopt niet meer.',
    },
  },
  etag_altered: {
    status: 412,
    when: '`If-Match` has the present version as a proxy rewrote it.',
    title: {
      en: 'A proxy altered the ETag that If-Match repeats.',
      nl: 'Een proxy heeft de ETag gewijzigd die in If-Match staat.',
    },
  },
  idempotency_key_reused: {
    status: 409,
    when: 'You used this `Idempotency-Key` for another request within a day.',
    title: {
      en: 'This Idempotency-Key was already used for another request.',
      nl: 'Deze Idempotency-Key is al voor een ander verzoek gebruikt.',
    },
  },
  suspended_by_admin: {
    status: 403,
    when: 'A consumer resumes what an admin suspended.',
    title: { en: 'An admin suspended this subscription.', nl: 'Een beheerder heeft dit abonnement onderbroken.' },
  },
  grant_revoked: {
    status: 403,
    when: 'A consumer asks again, and an admin revoked the grant.',
    title: { en: 'An admin revoked this grant.', nl: 'Een beheerder heeft deze grant ingetrokken.' },
  },
  blocked: {
    status: 403,
    when: 'What you register, ask or record is under a block.',
    title: { en: 'An admin blocks this.', nl: 'Een beheerder blokkeert dit.' },
  },
  subscription_ended: {
    status: 409,
    when: 'You ask the webhook of a subscription that has ended.',
    title: { en: 'This subscription has ended.', nl: 'Dit abonnement is verlopen.' },
  },
  database_unavailable: {
    status: 503,
    when: 'The database does not respond.',
    title: { en: 'The database is unavailable.', nl: 'De database is niet beschikbaar.' },
  },
  database_read_only: {
    status: 503,
    when: 'The database accepts no changes, for example because its disk is full.',
    title: {
      en: 'The database accepts no changes at the moment.',
      nl: 'De database accepteert op dit moment geen wijzigingen.',
    },
  },
  read_only: {
    status: 503,
    when: 'A change reached a process that only reads.',
    title: { en: 'This process is read-only.', nl: 'Dit proces kan alleen lezen.' },
  },
  revision_not_reached: {
    status: 503,
    when: 'The process did not reach `minRevision` within five seconds.',
    title: {
      en: 'This process has not reached this revision yet.',
      nl: 'Dit proces heeft deze revisie nog niet bereikt.',
    },
  },
  cursor_too_old: {
    status: 410,
    when: 'Changes after the cursor were deleted.',
    title: { en: 'The cursor is too old.', nl: 'De cursor is te oud.' },
  },
  cursor_of_other_history: {
    status: 410,
    when: 'The database was restored, or failed over, since the cursor was made.',
    title: {
      en: 'The cursor belongs to another history of the database.',
      nl: 'De cursor hoort bij een andere geschiedenis van de database.',
    },
  },
  too_many_readers: {
    status: 429,
    when: 'The tenant, or the subscriber, reads the feed more often at once than it may.',
    title: { en: 'The tenant has too many feed readers.', nl: 'De organisatie heeft te veel lezers van de feed.' },
  },
  too_many_handshakes: {
    status: 429,
    when: 'More handshakes of the tenant wait than may.',
    title: {
      en: 'The tenant has too many handshakes waiting.',
      nl: 'De organisatie heeft te veel wachtende handshakes.',
    },
  },
  too_many_checks: {
    status: 429,
    when: 'The budgets of handshakes have no place for a check of the proof of an origin.',
    title: {
      en: 'Too many requests to other systems.',
      nl: 'Te veel verzoeken aan andere systemen.',
    },
  },
  feed_full: {
    status: 503,
    when: 'This process has no room for another reader, or for a snapshot of this size.',
    title: { en: 'This process has too many feed readers.', nl: 'Dit proces heeft te veel lezers van de feed.' },
  },
  index_loading: {
    status: 503,
    when: 'The process started a moment ago.',
    title: { en: 'The index is still loading.', nl: 'De index wordt nog geladen.' },
  },
  registry_unavailable: {
    status: 503,
    when: '`assent egress` has no share of the rate left, or not the settings of the webhook yet, and the registry does not respond.',
    title: { en: 'The registry does not respond.', nl: 'Het register reageert niet.' },
  },
  token_unavailable: {
    status: 503,
    when: '`assent egress` gets no token for the registry from its issuer. Nothing was sent.',
    title: {
      en: 'This process has no token for the registry.',
      nl: 'Dit proces heeft geen token voor het register.',
    },
  },
  secret_unavailable: {
    status: 503,
    when: 'No key decrypts a secret that this needs. `assent egress`: or it may not read one, or has no key to sign with yet.',
    title: {
      en: 'A secret that this needs is not available.',
      nl: 'Een geheim dat hiervoor nodig is, is niet beschikbaar.',
    },
  },
  sink_held: {
    status: 429,
    when: '`assent egress`: the webhook asked senders to wait.',
    title: { en: 'The webhook asked senders to wait.', nl: 'De webhook vroeg verzenders om te wachten.' },
  },
  egress_full: {
    status: 503,
    when: '`assent egress` has as many deliveries in progress as it may have, in all or to this webhook.',
    title: { en: 'Too many deliveries are in progress.', nl: 'Er zijn te veel bezorgingen tegelijk.' },
  },
  no_response: {
    status: 502,
    when: '`assent egress` got no response from the webhook. The webhook may have got the request.',
    title: { en: 'The webhook did not respond.', nl: 'De webhook reageerde niet.' },
  },
  no_response_in_time: {
    status: 504,
    when: '`assent egress` got no response from the webhook before its deadline.',
    title: { en: 'The webhook did not respond in time.', nl: 'De webhook reageerde niet op tijd.' },
  },
  stopping: {
    status: 503,
    when: 'The process stops.',
    title: { en: 'The service is stopping.', nl: 'De dienst stopt.' },
  },
  internal: {
    status: 500,
    when: 'Anything else. The log has the cause.',
    title: { en: 'The service failed.', nl: 'Er ging iets mis in de dienst.' },
  },
} satisfies Record<string, Kind>;

export type ErrorCode = keyof typeof problems;
