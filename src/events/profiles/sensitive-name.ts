import { Buffer } from 'node:buffer';

/** Parts of names that say what the value is, wherever they stand: names have no separators. Secretaries are none. */
const anywhere = [
  'password',
  'passwd',
  'passphrase',
  '(?<!by)passcode',
  'secret(?!ar)',
  'credential',
  'token(?!i[sz])',
  'bearer',
  'apikey',
  'privatekey',
  'accesskey',
  'sessionid',
  'sessionkey',
  'cookie',
  'email',
  'phonenumber',
  'telefoonnummer',
  'homeaddress',
  'firstname(?!space)',
  'lastname(?!space)',
  'surname',
  'voornaam',
  'achternaam',
  'dateofbirth',
  'birthdate',
  'birthday',
  'geboortedatum',
  'creditcard',
  'cardnumber',
  'passportnumber',
  'burgerservicenummer',
  'citizenservicenumber',
  'socialsecurity',
  'rijksregisternummer',
];
/** Too short to be looked for inside of other words ("businessname" holds "ssn"). */
const atTheEnd = [
  'bsn',
  'ssn',
  'insz',
  'ssin',
  'iban',
  'jwt',
  'pincode',
  '(?<!s)session',
  'auth',
  'authorization',
  '(?<!micro|smart|mega|head|ear|i)phone',
];

/** One expression looks at a name once, and not once for each part. */
const sensitive = new RegExp(`${anywhere.join('|')}|(?:${atTheEnd.join('|')})$`);

/** Does the name of an extension say that it carries a credential, a session or personal data? */
export function isSensitiveName(name: string): boolean {
  return sensitive.test(name);
}

/**
 * A value that says so itself: a JSON Web Token, or the value of an Authorization header. Bearer comes before one word
 * (RFC 6750, section 2.1), Basic before user and password with a colon between them (RFC 7617, section 2).
 */
export function isCredential(value: string): boolean {
  if (/^Bearer +[\w.~+/-]+=*$/i.test(value)) return true;
  const basic = /^Basic +([A-Za-z0-9+/]+=*)$/i.exec(value)?.[1];
  if (basic !== undefined && Buffer.from(basic, 'base64').includes(':')) return true;
  return value.startsWith('eyJ') && /^[\w-]+\.[\w-]+\.[\w-]*$/.test(value);
}
