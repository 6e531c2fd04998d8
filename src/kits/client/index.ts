/** `@assent/client`: a typed client of the REST API for consumers, senders and administrators. */
export { AssentError, type Problem } from './assent-error.js';
export { createClient, type Client, type ClientSettings } from './create-client.js';
export type { Change, FollowOptions } from './follow-changes.js';
export type { ApiResponse, ClientMethod, ListItem, ListPath, Schemas } from './operations.js';
export type { TokenSource } from './send.js';
