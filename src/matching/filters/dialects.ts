import { anchorsOf } from '../cesql/anchors.js';
import { matchesCesql } from '../cesql/evaluate.js';
import { createRun, stepsTaken } from '../cesql/expression.js';
import { parseCesql } from '../cesql/parser.js';
import { stepsOf } from '../cesql/steps.js';
import type { Dialects } from './predicate.js';

/** The dialects beyond the required six. Expressions were parsed at registration, so a failure here is a bug. */
export const dialects: Dialects = {
  sql: (text) => {
    const parsed = parseCesql(text);
    if (!('expression' in parsed))
      throw new Error(`A stored CESQL expression cannot be parsed: ${parsed.fault.detail.en}`);
    const { expression } = parsed;
    const run = createRun();
    const stepsOfParts = stepsOf(expression, 0);
    return {
      test: matchesCesql(expression, run),
      anchors: anchorsOf(expression),
      get steps() {
        return stepsOfParts + stepsTaken(run);
      },
    };
  },
};
