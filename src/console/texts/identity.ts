import type { Text } from '../app/text.js';

/** Who an origin is: its keys, the proof of its name, and its client certificate. */
export const identityTexts = {
  verified: { en: 'Verified', nl: 'Geverifieerd' },
  keys: { en: 'Keys', nl: 'Sleutels' },
  keysHint: {
    en: 'Handshakes and deliveries are signed with them (HTTP Message Signatures), so that webhooks can tell that they come from this origin.',
    nl: 'Handshakes en bezorgingen worden ermee ondertekend (HTTP Message Signatures), zodat webhooks weten dat ze van deze herkomst komen.',
  },
  unsigned: {
    en: 'No handshake of this origin is signed: its policy says so.',
    nl: 'Geen handshake van deze herkomst wordt ondertekend: zo staat het in het beleid.',
  },
  noKeys: {
    en: 'No key of this origin signs handshakes now, so they are not signed.',
    nl: 'Geen sleutel van deze herkomst ondertekent nu handshakes. Ze worden niet ondertekend.',
  },
  key: { en: 'Key', nl: 'Sleutel' },
  copyKey: (id: string): Text => ({ en: `Copy the key id ${id}`, nl: `Kopieer het sleutel-id ${id}` }),
  kind: { en: 'Kind', nl: 'Soort' },
  kinds: {
    made: { en: 'made here', nl: 'hier gemaakt' },
    brought: { en: 'brought', nl: 'aangeleverd' },
    jwks: { en: 'JWKS URL', nl: 'JWKS-URL' },
  } as Record<string, Text>,
  state: { en: 'State', nl: 'Status' },
  states: {
    signing: { en: 'signs', nl: 'ondertekent' },
    published: { en: 'published', nl: 'gepubliceerd' },
    waiting: { en: 'starts later', nl: 'begint later' },
    ended: { en: 'ended', nl: 'beëindigd' },
    revoked: { en: 'revoked', nl: 'ingetrokken' },
  } as Record<string, Text>,
  notRead: { en: 'not read', nl: 'niet gelezen' },
  starts: { en: 'Starts', nl: 'Begint' },
  ends: { en: 'Ends', nl: 'Eindigt' },
  keyCount: (count: string, isOne: boolean): Text => ({
    en: isOne ? '1 key' : `${count} keys`,
    nl: isOne ? '1 sleutel' : `${count} sleutels`,
  }),
  read: { en: 'read', nl: 'gelezen' },

  make: { en: 'Make a key', nl: 'Sleutel maken' },
  makeHint: {
    en: 'Assent makes the key and signs with it. Verifiers find it in the directory at once. The private part never leaves the registry, except to senders whose token has assent:sign.',
    nl: 'Assent maakt de sleutel en ondertekent ermee. Ontvangers vinden hem direct in de directory. Het geheime deel blijft in het register, behalve voor verzenders met een token met assent:sign.',
  },
  from: { en: 'It signs', nl: 'Ondertekent' },
  fromChoices: {
    usual: { en: 'in 10 minutes', nl: 'over 10 minuten' },
    now: { en: 'now', nl: 'nu' },
    later: { en: 'from…', nl: 'vanaf…' },
  },
  fromHint: {
    en: 'Verifiers keep a directory for 5 minutes. A key that signs before they read it again is unknown to them.',
    nl: 'Ontvangers bewaren een directory 5 minuten. Een sleutel die eerder ondertekent, kennen ze nog niet.',
  },
  startsAt: { en: 'From', nl: 'Vanaf' },
  overlap: {
    en: 'After that, the keys made before stay in the directory for',
    nl: 'Daarna blijven eerder gemaakte sleutels in de directory',
  },
  makeNamed: {
    en: 'The DNS record names a key made before. Before that key ends, add a record with keyid= and the id of the new key. Both may stand beside each other.',
    nl: 'Het DNS-record noemt een eerder gemaakte sleutel. Voeg een record toe met keyid= en het id van de nieuwe sleutel voordat die eindigt. Beide mogen naast elkaar staan.',
  },
  made: { en: 'The key is made.', nl: 'De sleutel is gemaakt.' },
  bring: { en: 'Bring a key', nl: 'Sleutel aanleveren' },
  bringHint: {
    en: 'For senders that keep their own key: give its public part. Assent publishes it and cannot sign with it.',
    nl: 'Voor verzenders die zelf een sleutel bewaren: geef het openbare deel. Assent publiceert het en kan er niet mee ondertekenen.',
  },
  bringAs: { en: 'What you bring', nl: 'Wat u aanlevert' },
  bringChoices: {
    jwk: { en: 'A public key', nl: 'Een openbare sleutel' },
    jwks: { en: 'The URL of a JWKS', nl: 'De URL van een JWKS' },
  },
  jwk: { en: 'Public key (JWK)', nl: 'Openbare sleutel (JWK)' },
  jwkHint: {
    en: 'An Ed25519 key: {"kty":"OKP","crv":"Ed25519","x":"…"}. Never paste one with a member d: that is the private part.',
    nl: 'Een Ed25519-sleutel: {"kty":"OKP","crv":"Ed25519","x":"…"}. Plak nooit een sleutel met een veld d: dat is het geheime deel.',
  },
  notJson: (why: string): Text => ({ en: `This is not JSON: ${why}`, nl: `Dit is geen JSON: ${why}` }),
  isPrivate: {
    en: 'This key has its private part (d). Nothing was sent. Remove it, and use this key no longer if others could read it.',
    nl: 'Deze sleutel bevat het geheime deel (d). Er is niets verstuurd. Haal het weg, en gebruik deze sleutel niet meer als anderen hem konden lezen.',
  },
  jwksUri: { en: 'URL of the JWKS', nl: 'URL van de JWKS' },
  jwksUriHint: { en: 'https. Assent reads it now and each day.', nl: 'https. Assent leest die nu en daarna elke dag.' },
  brought: { en: 'The key is added.', nl: 'De sleutel is toegevoegd.' },
  revoke: { en: 'Revoke', nl: 'Intrekken' },
  revokeTitle: { en: 'Revoke this key?', nl: 'Deze sleutel intrekken?' },
  revokeLead: {
    en: 'It leaves the directory and the feed at once, and nothing is signed with it any more. Receivers refuse what it signed as soon as they read the directory again, within 5 minutes. You cannot undo this.',
    nl: 'De sleutel verdwijnt direct uit de directory en de feed, en er wordt niets meer mee ondertekend. Ontvangers weigeren wat ermee is ondertekend zodra ze de directory opnieuw lezen, binnen 5 minuten. U kunt dit niet ongedaan maken.',
  },
  revokeLast: {
    en: 'This key signs now. The one made before it takes over, if it has not ended. Without one, handshakes are not signed until you make another key.',
    nl: 'Deze sleutel ondertekent nu. Een eerder gemaakte sleutel die niet is beëindigd, neemt het over. Is die er niet, dan worden handshakes niet ondertekend tot u een sleutel maakt.',
  },
  revokeNamed: {
    en: 'The DNS record names this key. Publish the record of another key first, or the name is no longer proven.',
    nl: 'Het DNS-record noemt deze sleutel. Publiceer eerst het record van een andere sleutel, anders is de naam niet meer bewezen.',
  },
  revoked: { en: 'The key is revoked.', nl: 'De sleutel is ingetrokken.' },

  directory: { en: 'Directory', nl: 'Directory' },
  directoryHint: {
    en: 'Where webhooks find the keys. Signature-Agent points to it.',
    nl: 'Waar webhooks de sleutels vinden. Signature-Agent verwijst ernaar.',
  },
  directoryUrl: { en: 'URL of the directory', nl: 'URL van de directory' },
  ownServer: { en: 'For your own server', nl: 'Voor uw eigen server' },
  ownServerHint: (url: string): Text => ({
    en: `Serve this document at ${url}. Fetch it again after each change of a key.`,
    nl: `Serveer dit document op ${url}. Haal het opnieuw op als een sleutel wijzigt.`,
  }),
  document: { en: 'Directory document', nl: 'Directorydocument' },

  proof: { en: 'Proof of domain', nl: 'Bewijs van domein' },
  by: {
    directory: { en: 'Verified by its directory', nl: 'Geverifieerd met de directory' },
    dns: { en: 'Verified by DNS', nl: 'Geverifieerd met DNS' },
  } as Record<string, Text>,
  since: { en: 'Since', nl: 'Sinds' },
  lastCheck: { en: 'Last check', nl: 'Laatste controle' },
  failing: { en: 'The proof is no longer found', nl: 'Het bewijs is niet meer te vinden' },
  failingHint: {
    en: 'The origin stays verified for now. Three failed daily checks in a row end that.',
    nl: 'De herkomst blijft nog geverifieerd. Drie mislukte dagelijkse controles op rij maken daar een eind aan.',
  },
  notVerified: { en: 'Nobody has proven that this name is yours', nl: 'Niemand heeft bewezen dat deze naam van u is' },
  notVerifiedHint: {
    en: 'Webhook owners and senders see whether a name is verified, and a verified name belongs to your tenant alone.',
    nl: 'Eigenaren van webhooks en verzenders zien of een naam is geverifieerd, en een geverifieerde naam is alleen van uw organisatie.',
  },
  doOne: {
    en: 'Do one of these, then check.',
    nl: 'Doe een van deze twee, en controleer daarna.',
  },
  mustVerify: {
    en: 'Until then, nobody can register a subscription for it.',
    nl: 'Tot die tijd kan niemand een abonnement erop aanvragen.',
  },
  how: { en: 'How it can be proven', nl: 'Hoe u dit bewijst' },
  asDns: { en: 'A TXT record in DNS', nl: 'Een TXT-record in DNS' },
  asDirectory: { en: 'Or: the directory on your own server', nl: 'Of: de directory op uw eigen server' },
  recordName: { en: 'Name of the record', nl: 'Naam van het record' },
  recordValue: { en: 'Value of the record', nl: 'Waarde van het record' },
  proofUrl: {
    en: 'Serve the directory document, which is below, at this URL:',
    nl: 'Serveer het directorydocument, dat hieronder staat, op deze URL:',
  },
  proofOff: {
    en: 'The policy of this origin turns signatures off, so it has no directory. Turn them on to prove the name this way.',
    nl: 'In het beleid van deze herkomst staan handtekeningen uit, dus er is geen directory. Zet ze aan om de naam zo te bewijzen.',
  },
  needsKey: { en: 'Make a key first: the record names it.', nl: 'Maak eerst een sleutel: het record noemt die.' },
  check: { en: 'Check now', nl: 'Nu controleren' },
  checking: { en: 'Checking…', nl: 'Bezig met controleren…' },
  isVerified: { en: 'The origin is verified.', nl: 'De herkomst is geverifieerd.' },
  isNotVerified: { en: 'The proof was not found.', nl: 'Het bewijs is niet gevonden.' },

  certificate: { en: 'Client certificate', nl: 'Clientcertificaat' },
  noCertificate: {
    en: 'None. Webhooks that ask for one (mutual TLS) refuse the handshake.',
    nl: 'Geen. Webhooks die erom vragen (mutual TLS) weigeren de handshake.',
  },
  subject: { en: 'Subject', nl: 'Houder' },
  issuer: { en: 'Issuer', nl: 'Uitgever' },
  fingerprint: { en: 'Fingerprint (SHA-256)', nl: 'Vingerafdruk (SHA-256)' },
  certificateStates: {
    valid: { en: 'valid', nl: 'geldig' },
    soon: { en: 'ends soon', nl: 'eindigt binnenkort' },
    ended: { en: 'ended', nl: 'verlopen' },
    planned: { en: 'not yet valid', nl: 'nog niet geldig' },
  },
  upload: { en: 'Upload', nl: 'Uploaden' },
  replace: { en: 'Replace', nl: 'Vervangen' },
  uploadTitle: { en: 'Upload a client certificate', nl: 'Een clientcertificaat uploaden' },
  uploadHint: {
    en: 'Assent shows it to webhooks that ask for a client certificate, and senders get it for deliveries. The private key is stored encrypted and never shown.',
    nl: 'Assent toont het aan webhooks die om een clientcertificaat vragen, en verzenders krijgen het om te bezorgen. De geheime sleutel wordt versleuteld opgeslagen en nooit getoond.',
  },
  pem: { en: 'Certificate and its chain (PEM)', nl: 'Certificaat met keten (PEM)' },
  privateKey: { en: 'Private key (PEM)', nl: 'Geheime sleutel (PEM)' },
  file: (what: string): Text => ({ en: `Choose a file: ${what}`, nl: `Kies een bestand: ${what}` }),
  uploaded: { en: 'The client certificate is stored.', nl: 'Het clientcertificaat is opgeslagen.' },
  removeCertificate: { en: 'Remove', nl: 'Verwijderen' },
  removeTitle: { en: 'Remove the client certificate?', nl: 'Het clientcertificaat verwijderen?' },
  removeLead: {
    en: 'Handshakes and deliveries to webhooks that ask for a client certificate fail from then on.',
    nl: 'Handshakes en bezorgingen bij webhooks die om een clientcertificaat vragen, mislukken daarna.',
  },
  removed: { en: 'The client certificate is removed.', nl: 'Het clientcertificaat is verwijderd.' },
} satisfies Record<string, Text | object>;
