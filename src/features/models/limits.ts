/** Limits of the model gateway. */

/** The largest request, in bytes: Anthropic's own limit; a request with images has several megabytes. */
export const BODY_MAX = 32 * 1024 * 1024;
/** The largest response of an upstream that a project has chosen, in bytes: an hour of a fast stream. */
export const RESPONSE_MAX = 256 * 1024 * 1024;
/** To resolve the host of such an upstream and to connect, in milliseconds. */
export const CONNECT_MS = 10_000;
/** Milliseconds until an upstream begins to respond: a model that thinks responds late if it does not stream. */
export const FIRST_BYTE_MS = 10 * 60_000;
/** The longest pause within a response, in milliseconds; upstreams send comments or pings meanwhile. */
export const SILENCE_MS = 5 * 60_000;
/** The longest call, in milliseconds. */
export const CALL_MS = 60 * 60_000;
/** The list of models, the count of tokens and the body of an error take seconds at most. */
export const SHORT_MS = 60_000;
/** Attempts of one call, over all upstreams of its model. */
export const ATTEMPTS_MAX = 4;
/** Milliseconds before an upstream is tried again that is the only one. */
export const RETRY_MS = 250;
/** Calls in progress of one session: also the most by which a budget can be exceeded. */
export const SESSION_CALLS_MAX = 64;
/** Calls in progress on this server: Bun's client has 256 connections. */
export const SERVER_CALLS_MAX = 240;
/** A list of models or a count of tokens, in bytes: the longest lists have hundreds of kilobytes. */
export const SHORT_BODY_MAX = 4 * 1024 * 1024;
/** An error's body that is passed on, in bytes. */
export const ERROR_BODY_MAX = 64 * 1024;
