/** A PNG of one pixel. */
export const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

/** A file of a prompt's body. */
export const attached = (name: string, bytes: Buffer | string) => ({
  name,
  data: Buffer.from(bytes).toString("base64"),
});
