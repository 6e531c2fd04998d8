/** Events to start from. Their names are in the texts. */
export const examples = {
  least: { specversion: '1.0', id: 'A-1', source: 'https://example.com/shop', type: 'com.example.order.created' },
  nlGov: {
    specversion: '1.0',
    id: 'f3dce042-cd6e-4977-844d-05be8dce7cea',
    source: 'urn:nld:oin:00000001823288444000:systeem:BRP-component',
    type: 'nl.overheid.zaken.zaakstatus-gewijzigd',
    subject: 'zaak-2026-000123',
  },
  data: {
    specversion: '1.0',
    id: 'A-2',
    source: 'https://example.com/shop',
    type: 'com.example.order.created',
    subject: 'order-4711',
    datacontenttype: 'application/json',
    data: { lines: 3, total: '41.50' },
  },
  belgif: {
    specversion: '1.0',
    id: 'A-3',
    source: 'https://services.example.be/employer/v1',
    type: 'be.nsso.employer.v1.addresses.notify.updated',
    service: 'be.nsso.employer.v1',
  },
} as const;

export type Example = keyof typeof examples;
