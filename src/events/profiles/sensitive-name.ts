/** Parts of names that say what the value is, wherever they stand: names have no separators. */
const anywhere = [
  'password',
  'passwd',
  'passphrase',
  'secret',
  'credential',
  'token',
  'bearer',
  'apikey',
  'privatekey',
  'sessionid',
  'sessionkey',
  'cookie',
  'email',
  'phonenumber',
  'dateofbirth',
  'birthdate',
  'creditcard',
  'cardnumber',
  'passportnumber',
  'burgerservicenummer',
  'citizenservicenumber',
  'socialsecurity',
  'rijksregisternummer',
] as const;
/** Too short to be looked for inside of other words ("businessname" holds "ssn"). */
const atTheEnd = ['bsn', 'ssn', 'insz', 'ssin', 'iban', 'jwt', 'pincode', 'session', 'auth', 'authorization'] as const;

/** Extensions that CloudEvents documents; most events have no other, so they are not looked through. */
const documented: ReadonlySet<string> = new Set([
  'dataref',
  'partitionkey',
  'sequence',
  'sequencetype',
  'traceparent',
  'tracestate',
]);

/** Does the name of an extension say that it carries a credential, a session or personal data? */
export function isSensitiveName(name: string): boolean {
  if (documented.has(name)) return false;
  for (const part of anywhere) if (name.includes(part)) return true;
  for (const part of atTheEnd) if (name.endsWith(part)) return true;
  return false;
}

/** A value that says so itself: a JSON Web Token, or the value of an Authorization header. */
export function isCredential(value: string): boolean {
  if (/^(?:Bearer|Basic) ./i.test(value)) return true;
  return value.startsWith('eyJ') && /^[\w-]+\.[\w-]+\.[\w-]*$/.test(value);
}
