import { IncomingMessage } from 'node:http';

/** Is told each part of a body as it comes, and null at the end. */
export type TakePart = (part: Buffer | null) => void;

const ended: TakePart = () => undefined;

/**
 * A request that can be read past its stream: who reads a stream is told of each part, and of the end, in rounds of
 * their own, which takes as long as finding a grant.
 */
export class DirectRequest extends IncomingMessage {
  #take: TakePart | undefined;

  static {
    // Node lets go of a request once this is true. It is an accessor there too, whatever its type says.
    Object.defineProperty(this.prototype, 'readableEnded', {
      get(this: DirectRequest) {
        return this.#take === ended || Reflect.get(IncomingMessage.prototype, 'readableEnded', this);
      },
    });
  }

  /** Returns false if a part has come already: then it has to be read as a stream. */
  readDirectly(take: TakePart): boolean {
    if (this.complete || this.readableLength > 0) return false;
    this.#take = take;
    // Node throws away what nobody reads.
    this.read(0);
    return true;
  }

  /** Node's parser calls this with each part, and with null at the end. */
  override push(part: unknown, encoding?: BufferEncoding): boolean {
    const take = this.#take;
    if (take === undefined) return super.push(part, encoding);
    // A connection may rest for long after this.
    if (part === null) this.#take = ended;
    take(part as Buffer | null);
    return true;
  }
}
