/** For the list of a connector's tools. A runtime that lists the tools at its start waits for the slowest. */
export const LIST_MS = 8_000;
/** For a call, without the time that a person needs. The runtime ends a call after 60 seconds (`daemon/runtime`). */
export const CALL_MS = 30_000;
/** How long a person can answer, and how long an approval can be used. */
export const ASK_OPEN_MS = 30 * 60_000;
export const APPROVAL_MS = 10 * 60_000;
/** Questions of one project that wait at a time: more than a person reads. */
export const ASKS_MAX = 50;
/** Arguments that a person is expected to read, in characters of JSON. */
export const ASK_ARGUMENTS_MAX = 8_000;

/** Bytes of one response of a connector. */
export const RESPONSE_MAX_BYTES = 2 * 1024 * 1024;
/** Tools of one connector: all are in the model's context. */
export const TOOLS_MAX = 128;
/** Pages of a list of tools. */
export const PAGES_MAX = 10;
/** Characters of a tool's description, and of the JSON of its schema. */
export const DESCRIPTION_MAX = 2_000;
export const SCHEMA_MAX = 16_000;
/** Characters of the schemas and descriptions of one connector. */
export const LIST_MAX = 256_000;
/** Characters of the service's own name of a tool. */
export const ORIGINAL_MAX = 128;
/** Characters of text in a result: about 30,000 tokens of a model's context. */
export const TEXT_MAX = 120_000;
/** Characters of Base64 of the images in a result. */
export const MEDIA_MAX = 1_500_000;

/** Calls and questions that are kept of a project. */
export const CALLS_KEPT = 1_000;
export const ASKS_KEPT = 200;
