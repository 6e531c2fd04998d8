/** MUST and SHOULD of the text; `info` tells something worth knowing and never fails a run. */
export type CaseLevel = 'must' | 'should' | 'info';

/** Which side is tested: the receiver (a webhook) or the sender (what asks for consent and delivers). */
export type Side = 'receiver' | 'sender';

/** A set of rules beside the webhook specification. */
export type ConformanceProfile = 'cloudevents' | 'nl-gov';

/** One guarantee of the text. Ids are stable: baselines and reports name them. */
export interface Case {
  id: string;
  level: CaseLevel;
  /** Of the webhook specification, or another text that is named. */
  section: string;
  /** The guarantee, as a sentence. */
  title: string;
}

/**
 * What a case found. `not_evaluable` never counts as passed: `detail` says what was missing. For `failed`, `detail` says
 * what was seen, and what to change.
 */
export interface Finding {
  outcome: 'passed' | 'failed' | 'not_evaluable';
  detail: string;
  evidence: Evidence[];
}

/** `not_asked`: no case of the run asks for it. */
export type ConsentSeen = 'seen' | 'none' | 'not_asked';

/** One exchange: the heads as they went over the wire, LF between lines, keys and credentials hidden. */
export interface Evidence {
  asked: string;
  /** Undefined if there was no response. */
  answered: string | undefined;
}

export interface CaseResult extends Case, Finding {
  /** Milliseconds. */
  duration: number;
}

export interface Report {
  side: Side;
  /** The URL of a receiver, or the command of a sender. */
  target: string;
  profile: ConformanceProfile;
  /** RFC 3339, UTC. */
  startedat: string;
  /** Of the whole run, in milliseconds. */
  duration: number;
  /** Of the kit. */
  version: string;
  /** Ids of cases that are known to fail. */
  baseline: string[];
  /** Of a receiver: whether it is to consent at all. */
  expect?: 'consent' | 'refusal';
  /** Of a receiver: whether it consented to the origin, in a response or by the callback. */
  consent?: ConsentSeen;
  results: CaseResult[];
}
