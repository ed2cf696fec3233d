import { afterAll, beforeAll, expect, test } from "bun:test";
import { PGlite } from "@electric-sql/pglite";
import { migrateEmbedded } from "../../db/migrate.ts";
import { migrateUpTo } from "../helpers/migrate-up-to.ts";

/** The last migration of the version without operators. */
const BEFORE = 27;

let client: PGlite;
beforeAll(async () => {
  client = await PGlite.create();
});
afterAll(() => client.close());

test.each([
  { what: "the only user of a server becomes its operator", users: ["one"], operators: ["one"] },
  { what: "of several users, svc cannot know the operator", users: ["one", "two"], operators: [] },
])("$what", async ({ users, operators }) => {
  await client.exec(
    "drop schema public cascade; drop schema if exists drizzle cascade; create schema public",
  );
  await migrateUpTo(client, BEFORE);
  for (const name of users)
    await client.query("insert into users (email, name) values ($1, $2)", [`${name}@example.com`, name]);
  await migrateEmbedded(client);
  const { rows } = await client.query("select name from users where is_operator order by name");
  expect(rows).toEqual(operators.map((name) => ({ name })));
});
