import type { Text } from '../app/text.js';

/**
 * What happened, by the action of an entry of the audit record and the kind of a change of the feed. `{sink}`, `{origin}` and
 * `{block}` stand for their names.
 */
export const happenings: Record<string, Text | undefined> = {
  'subscription.created': { en: 'Registered {sink} for {origin}', nl: '{sink} aangevraagd voor {origin}' },
  'subscription.replaced': { en: 'Changed {sink}', nl: '{sink} gewijzigd' },
  'subscription.moved': { en: 'Moved {sink} to another origin', nl: '{sink} verplaatst naar een andere herkomst' },
  'subscription.deleted': { en: 'Deleted {sink}', nl: '{sink} verwijderd' },
  'subscription.suspended': { en: 'Suspended {sink}', nl: '{sink} onderbroken' },
  'subscription.resumed': { en: 'Resumed {sink}', nl: '{sink} hervat' },
  'subscription.expired': { en: '{sink} reached its end', nl: '{sink} is op zijn einde gekomen' },
  'subscription.blocked': { en: 'A block stopped {sink}', nl: 'Een blokkade heeft {sink} gestopt' },
  'subscription.unblocked': { en: 'No block stops {sink} any more', nl: 'Geen blokkade stopt {sink} nog' },
  'webhook.asked': { en: 'Tried {sink} for {origin}', nl: '{sink} geprobeerd voor {origin}' },
  'origin.created': { en: 'Created origin {origin}', nl: 'Herkomst {origin} aangemaakt' },
  'origin.replaced': { en: 'Changed origin {origin}', nl: 'Herkomst {origin} gewijzigd' },
  'origin.changed': { en: 'Origin {origin} changed', nl: 'Herkomst {origin} is gewijzigd' },
  'origin.removed': { en: 'Deleted origin {origin}', nl: 'Herkomst {origin} verwijderd' },
  'origin.key_made': { en: 'Made a key for origin {origin}', nl: 'Sleutel gemaakt voor herkomst {origin}' },
  'origin.key_brought': { en: 'Brought a key for origin {origin}', nl: 'Sleutel aangeleverd voor herkomst {origin}' },
  'origin.key_revoked': { en: 'Revoked a key of origin {origin}', nl: 'Sleutel van herkomst {origin} ingetrokken' },
  'origin.key_ended': { en: 'A key of origin {origin} ended', nl: 'Een sleutel van herkomst {origin} is verlopen' },
  'origin.key_read': {
    en: 'The key set of origin {origin} changed',
    nl: 'De sleutelset van herkomst {origin} is gewijzigd',
  },
  'origin.keys_read': {
    en: 'Read the private keys of origin {origin}',
    nl: 'Privésleutels van herkomst {origin} gelezen',
  },
  'origin.verified': { en: 'The name {origin} is proven', nl: 'De naam {origin} is bewezen' },
  'origin.unverified': { en: 'The name {origin} is no longer proven', nl: 'De naam {origin} is niet meer bewezen' },
  'origin.lost': {
    en: 'Origin {origin} went to another tenant, which proved the name',
    nl: 'Herkomst {origin} ging naar een andere organisatie, die de naam bewees',
  },
  'origin.certificate_set': {
    en: 'Stored a client certificate for origin {origin}',
    nl: 'Clientcertificaat opgeslagen voor herkomst {origin}',
  },
  'origin.certificate_removed': {
    en: 'Removed the client certificate of origin {origin}',
    nl: 'Clientcertificaat van herkomst {origin} verwijderd',
  },
  'block.created': { en: 'Blocked {block}', nl: '{block} geblokkeerd' },
  'block.lifted': { en: 'Lifted the block of {block}', nl: 'De blokkade van {block} beëindigd' },
  'block.announced': { en: 'Consumers know of the block of {block}', nl: 'Afnemers weten van de blokkade van {block}' },
  'grant.live': { en: '{origin} may send to {sink}', nl: '{origin} mag sturen naar {sink}' },
  'grant.ended': { en: '{origin} may no longer send to {sink}', nl: '{origin} mag niet meer sturen naar {sink}' },
  'grant.revoked': { en: 'Revoked: {origin} to {sink}', nl: 'Ingetrokken: {origin} naar {sink}' },
  'grant.held': { en: '{sink} asked {origin} to wait', nl: '{sink} vroeg {origin} om te wachten' },
  'grant.released': { en: 'Ended the hold of {sink}', nl: 'Pauze van {sink} beëindigd' },
  'grant.expiring': { en: 'Ends soon: {origin} to {sink}', nl: 'Verloopt binnenkort: {origin} naar {sink}' },
  'grant.expired': { en: 'Expired: {origin} to {sink}', nl: 'Verlopen: {origin} naar {sink}' },
  'handshake.granted': { en: '{sink} allowed {origin}', nl: '{sink} gaf {origin} toestemming' },
  'handshake.refused': { en: '{sink} refused {origin}', nl: '{sink} weigerde {origin}' },
  'handshake.unreachable': { en: '{sink} could not be reached', nl: '{sink} was niet bereikbaar' },
  'handshake.retired': { en: '{sink} is gone (410)', nl: '{sink} is buiten gebruik (410)' },
  'handshake.requested': { en: 'Asked {sink} again', nl: '{sink} opnieuw om toestemming gevraagd' },
  'handshake.callback_rejected': {
    en: 'A call of the callback URL of {sink} was not valid',
    nl: 'Een aanroep van de callback-URL van {sink} was niet geldig',
  },
};

export const auditTexts = {
  title: { en: 'Audit', nl: 'Auditlog' },
  search: { en: 'Search the name of a person', nl: 'Zoek de naam van een persoon' },
  keys: {
    action: { en: 'Action', nl: 'Handeling' },
    actor: { en: 'Client', nl: 'Programma (client)' },
    target: { en: 'Target', nl: 'Doel' },
    issuer: { en: 'Issuer', nl: 'Uitgever' },
    requestid: { en: 'Request', nl: 'Verzoek' },
    subscriber: { en: 'Subscriber', nl: 'Abonnee' },
    tenant: { en: 'Tenant', nl: 'Organisatie' },
    since: { en: 'From', nl: 'Vanaf' },
    until: { en: 'Before', nl: 'Voor' },
  },
  days: {
    0: { en: 'Today', nl: 'Vandaag' },
    6: { en: '7 days', nl: '7 dagen' },
    29: { en: '30 days', nl: '30 dagen' },
  },
  people: { en: 'People only', nl: 'Alleen personen' },
  noPerson: { en: 'No person changed anything', nl: 'Geen persoon heeft iets gewijzigd' },
  noPersonHint: {
    en: 'Programs without a person, and Assent itself, are left out.',
    nl: 'Programma’s zonder persoon en Assent zelf zijn weggelaten.',
  },
  everyone: { en: 'Show programs, too', nl: 'Toon ook programma’s' },
  when: { en: 'When', nl: 'Wanneer' },
  who: { en: 'Who', nl: 'Wie' },
  what: { en: 'What', nl: 'Wat' },
  reason: { en: 'Reason', nl: 'Reden' },
  reference: { en: 'Reference', nl: 'Kenmerk' },
  onlyThis: { en: 'Everything about this', nl: 'Alles hierover' },
  member: { en: 'Member', nl: 'Onderdeel' },
  before: { en: 'Before', nl: 'Voor' },
  after: { en: 'After', nl: 'Na' },
  long: { en: 'Show all {n} characters', nl: 'Toon alle {n} tekens' },
  csv: { en: 'Export as CSV', nl: 'Exporteren als CSV' },
  jsonl: { en: 'Export as JSON Lines', nl: 'Exporteren als JSON Lines' },
  progress: { en: '{entries} entries, {size} so far', nl: '{entries} regels, {size} tot nu toe' },
  exporting: { en: 'The export has started.', nl: 'De export is gestart.' },
  done: {
    en: 'The export is complete: {entries} entries, {size}.',
    nl: 'De export is compleet: {entries} regels, {size}.',
  },
  stopped: {
    en: 'You stopped the export. {entries} entries, {size}, arrived. Nothing was saved.',
    nl: 'U hebt de export gestopt. {entries} regels, {size}, zijn aangekomen. Er is niets opgeslagen.',
  },
  broken: {
    en: 'The connection was lost, so the export is incomplete: {entries} entries, {size}. Nothing was saved. Try again, or export a shorter period.',
    nl: 'De verbinding is verbroken, dus de export is niet compleet: {entries} regels, {size}. Er is niets opgeslagen. Probeer het opnieuw of exporteer een kortere periode.',
  },
  saveIncomplete: { en: 'Save the incomplete file', nl: 'Onvolledig bestand opslaan' },
} satisfies Record<string, Text | object>;

export const feedTexts = {
  title: { en: 'Feed', nl: 'Feed' },
  search: { en: 'Search origins', nl: 'Zoek herkomsten' },
  kind: { en: 'Change', nl: 'Wijziging' },
  cause: { en: 'Cause', nl: 'Oorzaak' },
  waiting: { en: 'Nothing changed yet', nl: 'Nog niets gewijzigd' },
  waitingHint: {
    en: 'Changes appear here as they happen.',
    nl: 'Wijzigingen verschijnen hier zodra ze gebeuren.',
  },
  off: { en: 'Your token may not follow the feed.', nl: 'Met uw token kunt u de feed niet volgen.' },
  pause: { en: 'Pause', nl: 'Pauzeren' },
  showWaiting: { en: 'Show {n} new', nl: 'Toon {n} nieuwe' },
} satisfies Record<string, Text | object>;
