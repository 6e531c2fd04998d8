export function faultsOf(result: unknown): string[];
