import { StringDecoder } from 'node:string_decoder';

const longestLine = 4 * 1_048_576;

/**
 * The whole lines of a stream of UTF-8, as many at a time as have come, without their ends (LF or CRLF). What stands
 * after the last end is no line. Throws for a line that no registry writes.
 */
export async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string[]> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + decoder.write(chunk)).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > longestLine) throw new Error('The stream has a line without an end.');
    if (lines.length > 0) yield lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
  }
}
