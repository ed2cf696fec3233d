import { expect, test } from "bun:test";
import { slugCandidate, slugify } from "../src/lib/slug.ts";
import { fc } from "./helpers/property.ts";

const SLUG = /^[a-z0-9]+(-[a-z0-9]+)*$/;

test.each([
  ["Shop Front", "shop-front"],
  ["  Über/Größe!  ", "uber-gro-e"],
  ["日本", "project"],
  ["--", "project"],
])("%p becomes %p", (name, slug) => {
  expect(slugify(name, "project")).toBe(slug);
});

test("every name gives a slug, and so does every further try for it", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 200 }), fc.nat(3), (name, attempt) => {
      const slug = slugCandidate(slugify(name, "project"), attempt);
      expect(slug.length).toBeLessThanOrEqual(40);
      expect(slug.replaceAll("--", "-")).toMatch(SLUG);
    }),
  );
});
