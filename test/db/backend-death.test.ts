import { expect } from "bun:test";
import { needs } from "../helpers/needs.ts";
import { createDatabase, POSTGRES } from "../helpers/postgres.ts";

const test = needs("a real Postgres", POSTGRES);

// The driver is patched for this (patches/postgres@3.4.9.patch). A process of its own, since it may well die.
for (const moment of ["between-statements", "during-a-statement", "while-others-wait"]) {
  test(`a backend that dies inside a transaction, ${moment}, aborts only that transaction`, async () => {
    const database = await createDatabase();
    const program = new URL("../helpers/dying-backend.ts", import.meta.url).pathname;
    const child = Bun.spawn([process.execPath, program, database.url, moment], {
      stdout: "pipe",
      stderr: "pipe",
    });
    const [out, err, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    await database.drop();
    expect({ code, err, said: out.split("\n").filter(Boolean) }).toEqual({
      code: 0,
      err: "",
      said: ["the transaction was refused", "the pool works", "only what was committed is stored"],
    });
  });
}
