import { request, type IncomingMessage } from 'node:http';

export interface StreamEvent {
  id: string;
  event: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  data: any;
}

/** A client of Server-Sent Events that reads them one by one. */
export interface EventStream {
  status: number;
  headers: IncomingMessage['headers'];
  /** The next event; undefined when the stream has ended. */
  next(): Promise<StreamEvent | undefined>;
  /** The next event that is not a heartbeat. */
  change(): Promise<StreamEvent | undefined>;
  /** Resolves when the stream has ended: true if it ended properly, false if it was aborted. */
  ended: Promise<boolean>;
  response: IncomingMessage;
  close(): void;
}

export async function openEventStream(url: string, headers: Record<string, string>): Promise<EventStream> {
  const asked = request(url, { headers: { Accept: 'text/event-stream', ...headers }, agent: false });
  asked.end();
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    asked.once('response', resolve);
    asked.once('error', reject);
  });
  asked.on('error', () => undefined);
  response.setEncoding('utf8');
  const events: StreamEvent[] = [];
  let text = '';
  let isOver = false;
  let wake = () => {};
  response.on('data', (chunk: string) => {
    text += chunk;
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const fields = new Map(block.split('\n').map((line) => line.split(/: (.*)/s) as [string, string]));
      const event = fields.get('event');
      if (event === undefined) continue;
      events.push({ id: fields.get('id') ?? '', event, data: JSON.parse(fields.get('data') ?? 'null') });
    }
    wake();
  });
  response.on('error', () => undefined);
  const ended = new Promise<boolean>((resolve) => {
    response.once('close', () => {
      isOver = true;
      wake();
      resolve(response.complete);
    });
  });
  const next = async () => {
    while (events.length === 0 && !isOver) await new Promise<void>((resolve) => (wake = resolve));
    return events.shift();
  };
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    next,
    ended,
    response,
    async change() {
      for (;;) {
        const event = await next();
        if (event?.event !== 'heartbeat') return event;
      }
    },
    close: () => asked.destroy(),
  };
}
