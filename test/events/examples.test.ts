import { describe, expect, test } from '@jest/globals';
import type { ReadEvent } from '../../src/events/draft.js';
import { readEvents, type EventRequest } from '../../src/events/read-events.js';
import type { Profile } from '../../src/consent/origin.js';
import { judgeEvent } from '../../src/events/check-event.js';
import { batched, binary, minimal, readOne, structured } from './message.js';

// Every example event of the five documents, valid or invalid as its document intends. The documents went through
// character recognition; each repaired example says so. Expectations include warnings.

/** The CloudEvents example of chapter 8 and, with dataref in place of subject and time, of "dataref". */
const pullRequest = {
  specversion: '1.0',
  type: 'com.github.pull_request.opened',
  source: 'https://github.com/cloudevents/spec/pull',
  subject: '123',
  id: 'A234-1234-1234',
  time: '2018-04-05T17:31:00Z',
  comexampleextension1: 'value',
  comexampleothervalue: 5,
  datacontenttype: 'text/xml',
  data: '<much wow="xml"/>',
};
const withDataref = {
  specversion: '1.0',
  type: 'com.github.pull_request.opened',
  source: 'https://github.com/cloudevents/spec/pull/123',
  id: 'A234-1234-1234',
  datacontenttype: 'text/xml',
  data: '<much wow="xml"/>',
  dataref: 'https://github.com/cloudevents/spec/pull/123/events/A234-1234-1234.xml',
};
const zaakstatus = {
  specversion: '1.0',
  type: 'nl.overheid.zaken.zaakstatus-gewijzigd',
  source: 'urn:nld:oin:00000001823288444000:systeem:BRP-component',
  subject: '123456789',
  id: 'f3dce042-cd6e-4977-844d-05be8dce7cea',
  time: '2021-12-10T17:31:00Z',
  nlbrpnationaliteit: '0083',
  geheimnummer: null,
  dataref: 'https://gemeenteX/api/persoon/123456789',
  sequence: '1234',
  sequencetype: 'integer',
  datacontenttype: 'application/json',
  data: { bsn: '1234567789', naam: 'Jan Jansen', gecontroleerd: 'ja' },
};
/** The guidelines print 19 digits in the first two of their chapters and 20 elsewhere; kept as printed. */
const oin19 = 'urn:nld:oin:0000001823288444000:systeem:BRP-component';
const short = { specversion: '1.0', type: zaakstatus.type, source: oin19, id: zaakstatus.id };
const short20 = { ...short, source: zaakstatus.source };

interface Example {
  title: string;
  request: EventRequest;
  faults?: string[];
  warnings?: string[];
}

const foreign = ['nl-gov.source_urn /source', 'nl-gov.data_json /datacontenttype'];
const shortOin = ['nl-gov.source_number /source'];

const nlGov: Example[] = [
  {
    title: 'profile, dataref (the quotes in data are \\&quot; in print, which is no JSON)',
    request: structured(withDataref),
    warnings: foreign,
  },
  {
    title: 'profile, 8, the first (the quotes in data likewise)',
    request: structured(pullRequest),
    warnings: foreign,
  },
  {
    title: 'profile, 8, CloudEvents-NL',
    request: structured(zaakstatus),
  },
  {
    title: 'context attributes, dataref',
    request: structured(withDataref),
    warnings: foreign,
  },
  {
    title: 'guidelines, 1.3, structured ("further attributes omitted" left out, empty application data)',
    request: structured({ ...short, data: {} }, 'application/cloudevents+json; charset=utf-8'),
    warnings: shortOin,
  },
  {
    title: 'guidelines, 1.3, batched, the first (closing quote and comma after source restored)',
    request: batched([{ ...short, data: {} }]),
    warnings: ['nl-gov.source_number /0/source'],
  },
  {
    title: 'guidelines, 1.3, batched, the second (the print ends after its id; closed there)',
    request: batched([{ ...short, id: '1ca55552-bc4a-4f5d-8cc8-8106e3e883c1' }]),
    warnings: ['nl-gov.source_number /0/source'],
  },
  {
    title: 'guidelines, 1.3, binary ("further attributes omitted" left out, empty application data)',
    request: binary(
      {
        Host: 'webhook.example.com',
        'ce-specversion': '1.0',
        'ce-type': short.type,
        'ce-id': short.id,
        'ce-source': oin19,
        'Content-Type': 'application/json; charset=utf-8',
      },
      '{}',
    ),
    warnings: ['nl-gov.source_number header/ce-source'],
  },
  {
    title: 'guidelines, 2.3, with geheimnummer',
    request: structured({ ...zaakstatus, source: oin19 }),
    warnings: shortOin,
  },
  {
    title: 'guidelines, 2.3, datacontenttype and data_base64 (the backslash before the underscore taken out)',
    request: structured({
      ...short20,
      datacontenttype: 'application/vnd.apache.thrift.binary',
      data_base64: 'YWFwIG5vb3QgbWllcw==',
    }),
    warnings: ['nl-gov.data_json /datacontenttype'],
  },
  {
    title: 'guidelines, 2.3, data_base64 alone',
    request: structured({ ...short20, data_base64: 'YWFwIG5vb3QgbWllcw==' }),
  },
  {
    title: 'guidelines, 3.3, delivery request ("further attributes omitted" left out)',
    request: structured(short20, 'application/cloudevents+json; charset=utf-8'),
  },
];

const envelope: Example[] = [
  {
    title: 'valid event in structured mode; its source has no scheme, which R-5 only recommends',
    request: structured({
      specversion: '1.0',
      id: '01HZX3KQVB8E72GQJHF5RM6YWN',
      source: '//orders.example.com/checkout',
      type: 'com.example.order.created',
      time: '2026-03-28T14:22:31.482Z',
      datacontenttype: 'application/json',
      dataschema: 'https://schemas.example.com/orders/created/v1.json',
      subject: 'order-8842',
      traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
      data: { orderId: 'order-8842', customerId: 'cust-1029', totalAmount: { value: '149.99', currency: 'USD' } },
    }),
    warnings: ['cloudevents.source_absolute /source'],
  },
  {
    title: 'invalid event: no specversion, no source, type in PascalCase without a domain',
    request: structured({ id: 'evt-100', type: 'OrderCreated', data: { orderId: 'order-100' } }),
    faults: [
      'cloudevents.required /source',
      'cloudevents.required /specversion',
      'intg-std-015.type_pattern /type',
      'intg-std-015.type_reverse_domain /type',
    ],
    warnings: [
      'intg-std-015.id_form /id',
      'intg-std-015.time_present /time',
      'intg-std-015.datacontenttype_present /datacontenttype',
      'intg-std-015.traceparent_present /traceparent',
    ],
  },
];

const employer = {
  specversion: '1.0',
  id: '550e8400-e29b-41d4-a716-446655440000',
  source: 'urn:api:be.nsso.employer',
  type: 'be.nsso.employer.v1.addresses.notify.updated',
  subject: '123456',
  time: '2025-06-12T10:05:01.288Z',
  dataschema: 'https://example.com/schemas/employer/v1#/components/schemas/AddressUpdatedEvent',
  data: {
    employerId: '123456',
    oldAddress: { addressLine1: 'Old Example Street 123', addressLine2: '1234 Example Town' },
    newAddress: { addressLine1: 'New Example Street 789', addressLine2: '1234 Example Town' },
  },
};
const belgif: Example[] = [
  {
    title: 'address change as printed: its own table requires a service, which the example does not have',
    request: structured(employer),
    faults: ['belgif.service_required /service'],
  },
  {
    title: 'address change with the service that its type names',
    request: structured({ ...employer, service: 'be.nsso.employer.v1' }),
  },
  {
    title: 'the examples of the table of attributes together; type and service are of two APIs there',
    request: structured({
      specversion: '1.0',
      type: 'be.nsso.employer.v1.employers.address.notify.updated',
      source: 'urn:be.example:enterprisenumber:0123456789',
      id: 'a81bc81b-dead-4e5d-abff-90865d1e13b1',
      dataschema: 'https://example.org/eventCatalog/ssin-update-events.yaml#/components/schemas/SsinUpdateEvent',
      time: '2025-08-20T12:10:13+02:00',
      datacontenttype: 'application/json',
      service: 'addressChanges.v1',
    }),
    warnings: ['belgif.type_service /type'],
  },
];

const suites: Array<[Profile, Example[]]> = [
  ['nl-gov', nlGov],
  ['intg-std-015', envelope],
  ['belgif', belgif],
];

describe.each(suites)('the examples of %s', (profile, examples) => {
  test.each(examples)('$title', ({ request, faults = [], warnings = [] }) => {
    const found = judgeEvent(profile, readOne(request));
    const briefly = (list: typeof found.faults) => list.map(({ rule, pointer }) => `${rule} ${pointer}`);
    expect([briefly(found.faults).sort(), briefly(found.warnings).sort()]).toEqual([faults.sort(), warnings.sort()]);
  });
});

test('the batch of the guidelines, 1.3, is read completely', () => {
  const second = { ...short, id: '1ca55552-bc4a-4f5d-8cc8-8106e3e883c1' };
  const result = readEvents(batched([{ ...short, data: {} }, second]));
  expect(result).toMatchObject({
    events: [{ event: { at: '/0', id: short.id } }, { event: { at: '/1', id: second.id } }],
  });
});

describe('single example values of the documents', () => {
  const judge = (profile: Profile, change: Record<string, unknown>) => {
    const read: ReadEvent = readOne(
      structured({ ...minimal, type: zaakstatus.type, source: zaakstatus.source, ...change }),
    );
    const { faults, warnings } = judgeEvent(profile, read);
    return [faults.map(({ rule }) => rule), warnings.map(({ rule }) => rule)];
  };

  test.each([
    // The namespace that CloudEvents has for its own examples is not nld.
    ['https://github.com/cloudevents', ['nl-gov.source_urn']],
    ['mailto:cncf-wg-serverless@lists.cncf.io', ['nl-gov.source_urn']],
    ['urn:uuid:6e8bc430-9c3a-11d9-9669-0800200c9a66', ['nl-gov.source_urn']],
    ['/cloudevents/spec/pull/123', ['cloudevents.source_absolute', 'nl-gov.source_urn']],
    ['/sensors/tn-1234567/alerts', ['cloudevents.source_absolute', 'nl-gov.source_urn']],
    ['1-555-123-4567', ['cloudevents.source_absolute', 'nl-gov.source_urn']],
    ['urn:nld:oin:00000001823288444000:systeem:BRP-component', []],
    // One print has kvknr, the other kvn.
    ['urn:nld:kvknr:09220932.burgerzakensysteem', []],
    ['urn:nld:kvn:09220932.burgerzakensysteem', []],
    // The text itself names the drawbacks of these two.
    ['urn:nld:gemeente-nijmegen.burgerzakensysteem', ['nl-gov.source_organisation']],
    ['urn:nld:gemeente-Bergen%20%28L%29.burgerzakensysteem', ['nl-gov.source_organisation']],
  ])('nl-gov: the source %s is valid, with the warnings %j', (source, warnings) => {
    expect(judge('nl-gov', { source })).toEqual([[], warnings]);
  });

  test.each([
    ['com.github.pull_request.opened', []],
    ['com.example.object.deleted.v2', ['nl-gov.type_version']],
    ['nl.brp.verhuizing.binnengemeentelijk', []],
    ['nl.brp.persoon-verhuisd', []],
    ['nl.natuurlijke-personen.persoon-verhuisd', []],
    ['nl.amsterdam.erfpacht.overdracht', []],
    ['nl.vng.zgw.zaken.status.create', []],
    ['nl.overheid.zaken.zaakstatus-gewijzigd', []],
    ['nl.brp.huwelijk-voltrokken', []],
    ['nl.brp.persoon-gehuwd', []],
    ['nl.vng.zgw.zaak-toegevoegd-aan-document', []],
    ['nl.vng.zgw.document-toegevoegd-aan-zaak', []],
    ['nl.brp.huwelijk-voltrokken.v0.1.0', []],
  ])('nl-gov: the type %s is valid, with the warnings %j', (type, warnings) => {
    expect(judge('nl-gov', { type })).toEqual([[], warnings]);
  });

  test.each([
    { id: 'doc2021033441' },
    { id: 'f3dce042-cd6e-4977-844d-05be8dce7cea' },
    { type: 'nl.brp.persoon-gehuwd', subject: '999990342' },
    { type: 'nl.brp.persoon-gehuwd', subject: '123456789' },
    { abc: '\ud800\udead' },
  ])('nl-gov: %j is valid', (change) => expect(judge('nl-gov', change)).toEqual([[], []]));

  test('nl-gov: the storage container of "subject" is valid', () => {
    const change = { source: 'https://example.com/storage/tenant/container', subject: 'mynewfile.jpg' };
    expect(judge('nl-gov', change)).toEqual([[], ['nl-gov.source_urn']]);
  });

  test('nl-gov: half a surrogate pair is invalid', () => {
    expect(judge('nl-gov', { abc: '\udead' })[0]).toEqual(['cloudevents.attribute_text']);
  });

  test('intg-std-015: the example of a namespaced extension is valid, and the name of its version suffix too', () => {
    const change = {
      type: 'com.example.order.created.v2',
      source: 'https://orders.example.com',
      examplecorrelationid: 'a',
    };
    expect(judge('intg-std-015', change)[0]).toEqual([]);
  });
});
