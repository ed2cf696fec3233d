import { constants, deflateRawSync, inflateRawSync } from "node:zlib";
import { sql } from "drizzle-orm";
import { conversationParts } from "../../../../db/schema/index.ts";

/** In zlib of Bun, 1 leaves a third more; 6 takes twice as long for 2 % less. */
const LEVEL = 3;
/** Bytes of UTF-8 of a text that is compressed: a part's text, with names in the place of the secrets in it. */
const DEFLATED_MAX_BYTES = 4 * 1024 * 1024;
/** Read in the place of a text that cannot be read, so that the others of its conversation can. */
export const DAMAGED = "(The stored text is damaged and cannot be read. A backup of the server may have it.)";

/** The columns of a part's text: it is deflated if that makes it shorter, since Postgres compresses from 2 kB on only. */
export const TEXT = { plainText: conversationParts.plainText, deflatedText: conversationParts.deflatedText };

interface StoredText {
  /** Empty if it is deflated. */
  plainText: string;
  deflatedText: Uint8Array | null;
}

/** @param text well-formed, without NUL (`storable`) */
export function storedText(text: string): StoredText {
  const bytes = Buffer.from(text);
  const deflated = bytes.length > DEFLATED_MAX_BYTES ? bytes : deflateRawSync(bytes, { level: LEVEL });
  return deflated.length < bytes.length
    ? { plainText: "", deflatedText: deflated }
    : { plainText: text, deflatedText: null };
}

export function textOf({ plainText, deflatedText }: StoredText): string {
  return deflatedText ? inflate(deflatedText) : plainText;
}

/** The columns from which `beginningOf` reads that many characters: not a whole text. */
export function beginningColumns(characters: number) {
  const count = (of: number) => sql.raw(String(of));
  return {
    plainText: sql<string>`substring(${TEXT.plainText} from 1 for ${count(characters)})`,
    deflatedText: sql<Uint8Array | null>`substring(${TEXT.deflatedText} from 1 for ${count(bytesOf(characters))})`,
  };
}

/** The first characters (UTF-16) of a text, or one less: none is cut in half. @param stored from `beginningColumns` */
export function beginningOf({ plainText, deflatedText }: StoredText, characters: number): string {
  const text = deflatedText
    ? inflate(deflatedText, { isCut: deflatedText.length >= bytesOf(characters) })
    : plainText;
  return text.slice(0, characters).replace(/[\uD800-\uDBFF]$/, "");
}

/** Bytes that begin with a number of characters: at most three for each, coded in at most 15 bits, after the codes. */
const bytesOf = (characters: number): number => 6 * characters + 512;

/** @param isCut whether the end is missing */
function inflate(deflated: Uint8Array, { isCut }: { isCut: boolean } = { isCut: false }): string {
  try {
    const bytes = inflateRawSync(deflated, {
      maxOutputLength: DEFLATED_MAX_BYTES,
      finishFlush: isCut ? constants.Z_SYNC_FLUSH : constants.Z_FINISH,
    });
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes, { stream: isCut });
  } catch {
    return DAMAGED;
  }
}
