import { readLines } from '../../base/formats/lines.js';

export interface ServerSentEvent {
  id: string;
  event: string;
  data: string;
}

/**
 * The events of a stream (HTML, section 9.2.6), in batches as they arrive. An incomplete last event is dropped.
 * EventSource cannot send a token, and hides why a stream was refused.
 */
export async function* readEventStream(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ServerSentEvent[]> {
  let id = '';
  let event = '';
  let data: string[] = [];
  for await (const lines of readLines(chunks)) {
    const events: ServerSentEvent[] = [];
    for (const line of lines) {
      if (line === '') {
        if (data.length > 0) events.push({ id, event: event || 'message', data: data.join('\n') });
        event = '';
        data = [];
        continue;
      }
      const colon = line.indexOf(':');
      const name = colon === -1 ? line : line.slice(0, colon);
      const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
      if (name === 'id' && !value.includes('\0')) id = value;
      else if (name === 'event') event = value;
      else if (name === 'data') data.push(value);
    }
    if (events.length > 0) yield events;
  }
}
