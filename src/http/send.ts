import type { Response } from 'express';
import type { Operation } from './contract.js';
import type { Stream } from './handler.js';
import { checkAnswer, type LaneAnswer, type LaneRoute } from './lane.js';
import { writeStream, type StreamLimits } from './write-stream.js';

export interface SendSettings {
  streams: StreamLimits;
  /** Every answer is held against the contract, and one that breaks it becomes a 500. The tests run so. */
  checkAnswers: boolean;
}

/** What a handler answers; the contract has checked what its types say. */
export interface UntypedAnswer {
  status: number;
  headers?: Readonly<Record<string, string>>;
  isFollowed?: boolean;
  body?: unknown;
  html?: string;
  json?: string;
  mediaType?: string;
  stream?: Stream;
}

export async function send(
  settings: SendSettings,
  operation: Operation,
  response: Response,
  answer: UntypedAnswer,
): Promise<void> {
  const { status, headers, body, html, json, stream } = answer;
  const hasJson = body !== undefined || json !== undefined;
  const mediaType = answer.mediaType ?? (html !== undefined ? 'text/html' : hasJson ? 'application/json' : undefined);
  if (settings.checkAnswers) {
    const broken = operation.checkAnswer(status, mediaType, json === undefined ? body : JSON.parse(json));
    if (broken.length > 0) throw new Error(`${operation.id} answered against the contract: ${broken.join('; ')}`);
  }
  for (const [name, value] of Object.entries(headers ?? {})) response.setHeader(name, value);
  response.status(status);
  if (stream !== undefined) {
    response.type(mediaType ?? '');
    if (response.req.method === 'HEAD') response.end();
    else await writeStream(response, stream, settings.streams);
  } else if (html !== undefined) response.type('html').send(html);
  else if (json !== undefined) response.type('json').send(json);
  else if (body === undefined) response.end();
  else response.json(body);
}

/** An answer of the lane, as the lane itself sends it. */
export function sendText(
  { checkAnswers }: SendSettings,
  { operation, headers }: LaneRoute,
  response: Response,
  answer: LaneAnswer,
): void {
  if (checkAnswers) checkAnswer(operation, answer.status, answer.body);
  response.status(answer.status).set(headers ?? {});
  const { headers: more = [] } = answer;
  for (let at = 0; at < more.length; at += 2) response.setHeader(more[at] ?? '', more[at + 1] ?? '');
  if (answer.body === undefined) response.end();
  else response.type('json').send(answer.body);
}
