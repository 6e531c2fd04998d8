const longestLine = 4 * 1_048_576;

/**
 * The complete lines of a UTF-8 stream, in batches as they arrive, without line ends (LF or CRLF). Text after the last
 * line end is dropped. Throws for an endless line.
 */
export async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string[]> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > longestLine) throw new Error('The stream has a line without an end.');
    if (lines.length > 0) yield lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
  }
}

/** The chunks of a body: of Node's stream, and of one of browsers that cannot iterate over it. */
export async function* chunksOf(
  body: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array> | null,
): AsyncGenerator<Uint8Array> {
  if (body !== null && !('getReader' in body)) {
    yield* body;
    return;
  }
  const reader = body?.getReader();
  try {
    for (;;) {
      const { done = true, value } = (await reader?.read()) ?? {};
      if (done || value === undefined) return;
      yield value;
    }
  } finally {
    // Also when the caller stops reading. A stream that broke off rejects.
    await reader?.cancel().catch(() => undefined);
  }
}
