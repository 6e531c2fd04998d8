/** The command is not one that can be understood. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
