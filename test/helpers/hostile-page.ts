import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { HIDDEN_IN_TEXT } from "../../src/contract/hidden.ts";

/** A text as a page must show it: active characters are named. */
export function named(text: string): string {
  return text.replace(
    HIDDEN_IN_TEXT,
    (character) => `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`,
  );
}

/** Each text is in a separate element that isolates its direction. */
export async function shows(page: Page, texts: readonly string[]): Promise<void> {
  const shown = new Set(await page.locator("bdi").allTextContents());
  expect(texts.map(named).filter((text) => !shown.has(text))).toEqual([]);
}

/** Nothing that a text could have made is in the page. Its own icons are there. */
export async function holdsNothing(page: Page): Promise<void> {
  const made =
    "script, iframe, object, embed, svg:not(.lucide), math, img, form[action], style, base, video, audio";
  expect(await page.locator("main").locator(made).count()).toBe(0);
  expect(await page.evaluate(() => document.body.innerHTML.includes("onerror=alert(1)>"))).toBe(false);
}
