import { Buffer } from 'node:buffer';

/** Parts of names that reveal the kind of value, at any position: names have no separators. Excludes "secretary". */
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
/** Too short to match inside other words ("businessname" contains "ssn"). */
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

/** One expression scans a name once, not once for each part. */
const sensitive = new RegExp(`${anywhere.join('|')}|(?:${atTheEnd.join('|')})$`);

/** Whether the name of an extension suggests a credential, a session or personal data. */
export function isSensitiveName(name: string): boolean {
  return sensitive.test(name);
}

/**
 * A value that is recognisable: a JSON Web Token, or an Authorization header. Bearer precedes one word
 * (RFC 6750, section 2.1), Basic before user and password with a colon between them (RFC 7617, section 2).
 */
export function isCredential(value: string): boolean {
  if (/^Bearer +[\w.~+/-]+=*$/i.test(value)) return true;
  const basic = /^Basic +([A-Za-z0-9+/]+=*)$/i.exec(value)?.[1];
  if (basic !== undefined && Buffer.from(basic, 'base64').includes(':')) return true;
  return value.startsWith('eyJ') && /^[\w-]+\.[\w-]+\.[\w-]*$/.test(value);
}
