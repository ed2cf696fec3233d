import { FormatRegistry } from "@sinclair/typebox";
import { UUID } from "../contract/id.ts";

/**
 * Sets how schemas check the formats that the contract uses. The OpenAPI plugin replaces them, when it is loaded, by
 * checks that build a parser for each value: most of the time that a list takes.
 */
export function setFormats(): void {
  FormatRegistry.Set("uuid", (value) => UUID.test(value));
  FormatRegistry.Set("date-time", (value) => DATE_TIME.test(value) && !Number.isNaN(Date.parse(value)));
}

/** RFC 3339, section 5.6. */
const DATE_TIME = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/;
