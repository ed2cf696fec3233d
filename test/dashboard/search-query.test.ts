import { expect, test } from "bun:test";
import {
  includes,
  QUICK,
  searchOf,
  sortOf,
  statusOf,
  toggle,
  withSort,
  withStatus,
} from "../../dashboard/pages/change-requests/search-query.ts";
import { parseSearch } from "../../src/contract/search/parse.ts";

test("the address has the search; without one, the open ones are shown", () => {
  const rows: [query: string, search: string][] = [
    ["", "is:open"],
    ["q=", ""],
    ["q=x", "x"],
    ["status=closed", "is:closed"],
    ["status=all", ""],
    ["status=open&q=is:draft", "is:open is:draft"],
    ["status=%3Cb%3E", ""],
  ];
  for (const [query, search] of rows)
    expect([query, searchOf(new URLSearchParams(query))]).toEqual([query, search]);
});

test("the status is one term of the search", () => {
  const rows: [search: string, status: string, closed: string, all: string][] = [
    ["is:open x", "open", "is:closed x", "x"],
    ["", "all", "is:closed", ""],
    ["-is:open is:draft", "all", "is:closed is:draft", "is:draft"],
    ["is:open is:merged", "all", "is:closed", ""],
    ["x sort:created-asc", "all", "is:closed x sort:created-asc", "x sort:created-asc"],
    ['is:opn "', "all", "is:closed", ""],
  ];
  for (const [search, status, closed, all] of rows)
    expect([search, statusOf(search), withStatus(search, "closed"), withStatus(search, "all")]).toEqual([
      search,
      status,
      closed,
      all,
    ]);
});

test("each quick filter is a search, and is added once and removed whole", () => {
  for (const { search } of QUICK) {
    expect(parseSearch(search)).toHaveProperty("search");
    expect(includes("is:open", search)).toBe(false);
    const added = toggle("is:open x sort:updated-asc", search);
    expect(added).toBe(`is:open x ${search} sort:updated-asc`);
    expect(includes(added, search)).toBe(true);
    expect(toggle(added, search)).toBe("is:open x sort:updated-asc");
  }
  expect(toggle("-is:draft x", "-author:@me -is:draft")).toBe("x -author:@me -is:draft");
  expect(includes("author:@me", "-author:@me")).toBe(false);
  expect(toggle("author:@me x", "-author:@me -is:draft")).toBe("x -author:@me -is:draft");
});

test("the order is part of the search, unless it is the usual one", () => {
  expect(sortOf("x")).toBe("created-desc");
  expect(sortOf("sort:updated-asc x")).toBe("updated-asc");
  expect(withSort("sort:updated-asc x", "created-asc")).toBe("x sort:created-asc");
  expect(withSort("sort:updated-asc x", "created-desc")).toBe("x");
});
