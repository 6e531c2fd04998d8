import type { Rule } from '../rule.js';

const core = 'CloudEvents 1.0';
const json = 'JSON Event Format for CloudEvents';
const http = 'HTTP Protocol Binding for CloudEvents';

/** A message that breaks one of these cannot be read as an event, or only in part. The readers report them. */
const rule = (name: string, document: string, section: string, sentence: string): Rule => ({
  id: `cloudevents.${name}`,
  profile: 'cloudevents',
  level: 'MUST',
  source: { document, section },
  sentence,
  check: 'reading',
});

export const readingRules = {
  required: rule('required', core, 'REQUIRED Attributes', 'Every event has an id, a source, a specversion and a type.'),
  notEmpty: rule('not_empty', core, 'id, source, type, dataschema, subject', 'The value has at least one character.'),
  specversion: rule('specversion', core, 'specversion', 'The specversion is the string "1.0".'),
  source: rule('source', core, 'source', 'The source is a URI reference (RFC 3986, section 4.1).'),
  datacontenttype: rule('datacontenttype', core, 'datacontenttype', 'The datacontenttype is a media type (RFC 2046).'),
  dataschema: rule('dataschema', core, 'dataschema', 'The dataschema is a URI with its scheme (RFC 3986).'),
  time: rule('time', core, 'time', 'The time is an RFC 3339 date and time with an offset.'),
  attributeName: rule(
    'attribute_name',
    core,
    'Naming Conventions',
    'The name of an attribute has lower-case letters a-z and digits only, at least one.',
  ),
  attributeReserved: rule(
    'attribute_reserved',
    core,
    'Naming Conventions',
    'No attribute is called "data": formats use the name for the payload.',
  ),
  attributeOnce: rule('attribute_once', core, 'Context Attributes', 'An event has each attribute once.'),
  attributeText: rule(
    'attribute_text',
    core,
    'Type System, String',
    'A string has no control characters, no half surrogate pairs and no Unicode noncharacters.',
  ),
  integer: rule(
    'integer',
    core,
    'Type System, Integer',
    'A number is whole, without fraction and exponent, from -2147483648 to 2147483647.',
  ),
  attributeType: rule(
    'attribute_type',
    json,
    '2.2',
    'The attributes that the specification defines are strings in JSON, or null where they may be absent.',
  ),
  attributeValue: rule(
    'attribute_value',
    json,
    '2.2',
    'An attribute is a string, a number, a boolean or null, not an object or an array.',
  ),
  eventObject: rule('event_object', json, '3', 'An event is a JSON object.'),
  dataExclusive: rule('data_exclusive', json, '3.1.1', 'An event has "data" or "data_base64", not both.'),
  dataBase64: rule(
    'data_base64',
    json,
    '3.1.1',
    'The member "data_base64" is a string in padded standard Base64 (RFC 4648, section 4).',
  ),
  dataString: rule(
    'data_string',
    json,
    '3.1.1',
    'Where datacontenttype declares something else than JSON, "data" is a string.',
  ),
  headerDatacontenttype: rule(
    'header_datacontenttype',
    http,
    '3.1.1',
    'In binary mode Content-Type is the datacontenttype; there is no ce-datacontenttype.',
  ),
  headerEncoding: rule(
    'header_encoding',
    http,
    '3.1.3.2',
    'A header value is visible ASCII in which quotes are closed and percent-encoding is whole and UTF-8.',
  ),
  batchSpecversion: rule(
    'batch_specversion',
    'Guidelines for NL-GOV profile CloudEvents',
    '1.1',
    'All events of a batch have the same specversion.',
  ),
} as const;
