import { FormatRegistry } from "@sinclair/typebox";
import { UUID } from "../contract/id.ts";

/** Registers the formats that the contract's schemas use: TypeBox has none. */
export function setFormats(): void {
  FormatRegistry.Set("uuid", (value) => UUID.test(value));
  FormatRegistry.Set("date-time", (value) => DATE_TIME.test(value) && isStorable(Date.parse(value)));
}

/** Whether a time is in a year that Postgres reads in this form: there is no year 0, and none with five digits in UTC. */
function isStorable(time: number): boolean {
  const year = new Date(time).getUTCFullYear();
  return year >= 1 && year <= 9999;
}

/** RFC 3339, section 5.6. */
const DATE_TIME = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/;
