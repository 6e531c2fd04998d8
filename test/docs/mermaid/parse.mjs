import { readFileSync } from 'node:fs';
import { JSDOM } from 'jsdom';

// Prints, for each diagram of diagrams.json, the message of the parser or null.

// Mermaid cleans labels with DOMPurify, which needs a document when it is loaded.
const { window } = new JSDOM('');
Object.assign(globalThis, { window, document: window.document });
const { default: mermaid } = await import('mermaid');

const messages = [];
for (const text of JSON.parse(readFileSync('diagrams.json', 'utf8'))) {
  const message = await mermaid.parse(text).then(
    () => null,
    (error) => error.message,
  );
  messages.push(message);
}
console.log(JSON.stringify(messages));
