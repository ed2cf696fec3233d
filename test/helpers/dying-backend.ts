import postgres from "postgres";

/** A pool of one connection whose backend is terminated inside a transaction: `<database url> <moment>`. */
const [url = "", moment = ""] = process.argv.slice(2);
const sql = postgres(url, { max: 1, backoff: false, onnotice() {} });
const killer = postgres(url, { max: 1 });

await sql`create table kept (who text)`;
const [mine] = await sql`select pg_backend_pid() as pid`;
const kill = () => killer`select pg_terminate_backend(${mine?.["pid"]}::int, 5000)`;

const broken = sql.begin(async (transaction) => {
  await transaction`insert into kept values ('broken')`;
  if (moment === "during-a-statement") {
    await Promise.all([transaction`select pg_sleep(5)`, Bun.sleep(50).then(kill)]);
  } else {
    await kill();
  }
  // The next waiter has the connection by now: nothing of this transaction may reach it.
  await Bun.sleep(300);
  await transaction`insert into kept values ('stray')`;
});
const waiting =
  moment !== "while-others-wait"
    ? []
    : [1, 2, 3].map((n) =>
        sql.begin(async (transaction) => {
          await transaction`insert into kept values (${`waited ${n}`})`;
          await Bun.sleep(200);
        }),
      );
await broken.then(
  () => console.log("the transaction was let through"),
  () => console.log("the transaction was refused"),
);
await Promise.all(waiting);
await Bun.sleep(500);
for (let n = 0; n < 5; n++) await sql.begin((transaction) => transaction`insert into kept values ('later')`);
console.log("the pool works");
const rows = await sql`select who, count(*)::int as n from kept group by who order by who`;
const stored = rows.map((row) => `${row["who"]}:${row["n"]}`).join(" ");
const wanted = moment === "while-others-wait" ? "later:5 waited 1:1 waited 2:1 waited 3:1" : "later:5";
console.log(stored === wanted ? "only what was committed is stored" : `stored: ${stored}`);
await Promise.all([sql.end({ timeout: 1 }), killer.end({ timeout: 1 })]);
