import { expect, test } from "bun:test";
import { openTerminalPage } from "../../scripts/terminal-page.ts";

test("shows a terminal's screen as a page: colours, and text as text", async () => {
  const page = openTerminalPage(20, 2);
  page.write("first\r\n\x1b[32m<b>\x1b[0m \x1b[1mbold\x1b[0m\r\nlast & least");
  expect(await page.text()).toBe("<b> bold\nlast & least");
  const html = await page.html();
  expect(html).toContain('<span style="color:#7ee29b">&#60;</span>');
  expect(html).toContain('<span style="font-weight:bold">b</span>');
  expect(html).toContain("\nlast &#38; least</pre>");
  expect(html).not.toContain("first");
});
