import { expect, test } from '@jest/globals';
import { pageNames, readPage } from './markdown.js';

/** How many words a page may have, tables and code included. What is said here is said nowhere else. */
const budgets: Readonly<Record<string, number>> = {
  'CHANGELOG.md': 310,
  'CONTRIBUTING.md': 1870,
  'README.md': 550,
  'SECURITY.md': 300,
  'docs/accessibility.md': 470,
  'docs/admins/audit.md': 400,
  'docs/admins/console.md': 630,
  'docs/admins/incident.md': 410,
  'docs/admins/origins.md': 1030,
  'docs/admins/subscription-rules.md': 520,
  'docs/architecture.md': 980,
  'docs/comparison.md': 710,
  'docs/compliance/event-profiles.md': 310,
  'docs/concepts.md': 1095,
  'docs/consumers/verify.md': 1765,
  'docs/operate/backup.md': 400,
  'docs/operate/egress-proxy.md': 440,
  'docs/operate/install.md': 930,
  'docs/operate/kubernetes.md': 480,
  'docs/operate/monitoring.md': 606,
  'docs/operate/notices.md': 440,
  'docs/operate/release.md': 560,
  'docs/operate/scaling.md': 890,
  'docs/operate/security.md': 1300,
  'docs/operate/tokens.md': 1740,
  'docs/operate/traces.md': 540,
  'docs/operate/upgrade.md': 320,
  'docs/performance.md': 392,
  'docs/quickstart.md': 630,
  'docs/senders/brokers/README.md': 540,
  'docs/senders/brokers/benthos.md': 190,
  'docs/senders/brokers/camel.md': 210,
  'docs/senders/brokers/dapr.md': 150,
  'docs/senders/brokers/debezium.md': 220,
  'docs/senders/brokers/knative.md': 200,
  'docs/senders/brokers/n8n.md': 280,
  'docs/senders/brokers/node-red.md': 340,
  'docs/senders/brokers/syslog-ng.md': 170,
  'docs/senders/egress-gateways.md': 1240,
  'docs/senders/egress.md': 1150,
  'docs/senders/signatures.md': 800,
  'docs/versioning.md': 660,
};

test.each(Object.entries(budgets))('%s is not longer than %i words', (name, words) => {
  expect(pageNames).toContain(name);
  // Pictures, and the bars and rules of tables, are no words.
  const found = readPage(name)
    .replace(/<picture>.*?<\/picture>/gs, '')
    .split(/\s+/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word));
  expect(found.length).toBeLessThanOrEqual(words);
});
