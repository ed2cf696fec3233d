import { expect, test } from "bun:test";
import { DrizzleQueryError } from "drizzle-orm";
import { toSvcError } from "../../src/http/errors.ts";

const failed = (fields: object, message = "could not extend file") =>
  new DrizzleQueryError("insert into x", [], Object.assign(new Error(message), fields));

test.each<[string, unknown, string, number]>([
  ["Postgres' disk_full", failed({ code: "53100" }), "disk_full", 507],
  ["the embedded database's file system", { name: "ErrnoError", errno: 51 }, "disk_full", 507],
  ["its quota", new Error("x", { cause: { name: "ErrnoError", errno: 19 } }), "disk_full", 507],
  ["a file", Object.assign(new Error("x"), { code: "ENOSPC" }), "disk_full", 507],
  ["SQLite", Object.assign(new Error("x"), { code: "SQLITE_FULL" }), "disk_full", 507],
  ["another error of the file system", { name: "ErrnoError", errno: 44 }, "internal", 500],
  ["words in a text of a user's", failed({ code: "22000" }, "No space left on device"), "internal", 500],
  ["a database that is away", failed({ code: "57P01" }), "unavailable", 503],
])("%s", (_, error, code, status) => {
  expect(toSvcError(error, "UNKNOWN", "1")).toMatchObject({ code, status });
});

test("handles circular causes", () => {
  const error = new Error("x");
  error.cause = error;
  expect(toSvcError(error, "UNKNOWN", "1").code).toBe("internal");
});
