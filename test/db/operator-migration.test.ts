import { expect } from "bun:test";
import { openEarlier } from "../helpers/earlier-database.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";

/** The last migration of the version without operators. */
const BEFORE = 27;

const test = needs("a real Postgres", POSTGRES);

test.each([
  { what: "the only user of a server becomes its operator", users: ["one"], operators: ["one"] },
  { what: "of several users, svc cannot know the operator", users: ["one", "two"], operators: [] },
])("$what", async ({ users, operators }) => {
  await using database = await openEarlier(BEFORE);
  for (const name of users)
    await database.query(`insert into users (email, name) values ('${name}@example.com', '${name}')`);
  await database.migrate();
  const rows = await database.query("select name from users where is_operator order by name");
  expect(rows).toEqual(operators.map((name) => ({ name })));
});
