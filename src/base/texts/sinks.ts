import type { Text } from './text.js';

/** Why a URL cannot be a sink. */
export const sinkTexts = {
  tooLong: (max: number): Text => ({
    en: `A sink has at most ${max} characters.`,
    nl: `Een sink heeft hoogstens ${max} tekens.`,
  }),
  notAscii: {
    en: 'Write host names in their xn-- form and percent-encode all other characters outside ASCII.',
    nl: 'Schrijf hostnamen in de vorm met xn-- en gebruik percent-encoding voor alle andere tekens buiten ASCII.',
  },
  charactersNotAllowed: {
    en: 'A URI has no spaces, tabs, line breaks, backslashes, quotes or braces. Each "%" needs two hexadecimal digits.',
    nl: 'Een URI bevat geen spaties, tabs, regeleinden, backslashes, aanhalingstekens of accolades. Na elke "%" staan twee hexadecimale cijfers.',
  },
  notUrl: {
    en: 'The sink is not an absolute URL with a valid host.',
    nl: 'De sink is geen absolute URL met een geldige host.',
  },
  notHttps: { en: 'The sink must be an https URL.', nl: 'De sink moet een https-URL zijn.' },
  beginning: {
    en: 'The sink must begin with "https://" in lower case, followed by the host.',
    nl: 'De sink moet beginnen met "https://" in kleine letters, gevolgd door de host.',
  },
  userinfo: {
    en: 'The sink must not contain a user name or a password.',
    nl: 'De sink mag geen gebruikersnaam of wachtwoord bevatten.',
  },
  fragment: {
    en: 'The sink must not have a fragment, because HTTP never sends it.',
    nl: 'De sink mag geen fragment hebben, want HTTP stuurt dat nooit mee.',
  },
  dotSegment: {
    en: 'The path must not have "." or ".." segments. Write the path that they lead to.',
    nl: 'Het pad mag geen segmenten "." of ".." hebben. Schrijf het pad waar ze naartoe leiden.',
  },
  accessToken: {
    en: 'A token in the query ends up in logs. Put it in "sinkcredential" instead.',
    nl: 'Een token in de query komt in logs terecht. Zet het in "sinkcredential".',
  },
  ownHost: {
    en: 'The sink must not lead to Assent itself.',
    nl: 'De sink mag niet naar Assent zelf leiden.',
  },
  ipLiteral: {
    en: 'The sink must name its host. An IP address is accepted only if the operator allows its network.',
    nl: 'De sink moet een hostnaam bevatten. Een IP-adres mag alleen als de systeembeheerder het netwerk toestaat.',
  },
  trailingDot: {
    en: 'Write the host without the dot at the end.',
    nl: 'Schrijf de host zonder de punt aan het einde.',
  },
  hostMalformed: {
    en: 'The host must be a DNS name of letters, digits and hyphens.',
    nl: 'De host moet een DNS-naam zijn met letters, cijfers en koppeltekens.',
  },
  localhost: {
    en: 'localhost is accepted only if the operator allows it: ASSENT_ALLOWED_NETWORKS=127.0.0.0/8.',
    nl: 'localhost mag alleen als de systeembeheerder het toestaat: ASSENT_ALLOWED_NETWORKS=127.0.0.0/8.',
  },
  singleLabel: {
    en: 'The host must be a full name such as hooks.example.com.',
    nl: 'De host moet een volledige naam zijn, zoals hooks.example.com.',
  },
  unresolvable: (ending: string): Text => ({
    en: `Names that end in ".${ending}" do not exist in DNS.`,
    nl: `Namen die eindigen op ".${ending}" bestaan niet in DNS.`,
  }),
  internalName: {
    en: 'This is the name of an internal or test network. It is accepted only if the operator allows that network (ASSENT_ALLOWED_NETWORKS).',
    nl: 'Dit is de naam van een intern netwerk of testnetwerk. Die mag alleen als de systeembeheerder dat netwerk toestaat (ASSENT_ALLOWED_NETWORKS).',
  },
  portNotAllowed: (ports: ReadonlyArray<number | string>): Text => ({
    en: `The port must be one of: ${ports.join(', ')}. The operator can allow more: ASSENT_SINK_PORTS.`,
    nl: `De poort moet een van deze zijn: ${ports.join(', ')}. De systeembeheerder kan er meer toestaan: ASSENT_SINK_PORTS.`,
  }),
  notCanonical: (href: string): Text => ({
    en: `Write the sink in canonical form: "${href}".`,
    nl: `Schrijf de sink in canonieke vorm: "${href}".`,
  }),
};
