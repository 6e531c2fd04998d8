import { createAuthority } from '../../src/tools/conformance/authority.js';
import type { CaseResult } from '../../src/tools/conformance/case.js';
import { receiverCases } from '../../src/tools/conformance/cases.js';
import { startCallbackHost } from '../../src/tools/conformance/receiver/callback-host.js';
import { runReceiver, type ReceiverRun } from '../../src/tools/conformance/receiver/run-receiver.js';

/** Of the callback URLs that a receiver is offered. */
export const callbackAuthority = await createAuthority('Conformance test', 1);
const certificate = await callbackAuthority.issue(['127.0.0.1']);

/** Runs all cases of the conformance kit. Its times are long, so that a busy machine fails no case. */
export async function judgeReceiver(sink: string, settings: Partial<ReceiverRun>): Promise<CaseResult[]> {
  const callbacks = await startCallbackHost({ host: '127.0.0.1', port: 0, certificate });
  try {
    const { results } = await runReceiver({
      cases: receiverCases,
      sink,
      origin: 'eventemitter.example.com',
      expect: 'consent',
      rate: 120,
      profile: 'cloudevents',
      deliver: true,
      burst: false,
      token: undefined,
      keys: [],
      revokedKey: undefined,
      ca: undefined,
      timeoutMs: 60_000,
      callMs: 60_000,
      quietMs: 300,
      deadlineMs: Infinity,
      callbacks,
      ...settings,
    });
    return results;
  } finally {
    await callbacks.stop();
  }
}

/** The cases that fail, with what was seen. */
export function failuresOf(results: readonly CaseResult[]): string[] {
  return results.filter(({ outcome }) => outcome === 'failed').map(({ id, detail }) => `${id} ${detail}`);
}
