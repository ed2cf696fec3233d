import page from "./sample/index.html.txt" with { type: "text" };
import runtimeConfig from "./sample/opencode.json.txt" with { type: "text" };
import readme from "./sample/README.md.txt" with { type: "text" };
import script from "./sample/script.js" with { type: "text" };
import style from "./sample/style.css.txt" with { type: "text" };
import manifest from "./sample/svc.toml.txt" with { type: "text" };

/** The repository of the demo: a small web app, and the script that answers its agent in place of a model. */
export const SAMPLE: Readonly<Record<string, string>> = {
  "README.md": readme,
  "svc.toml": manifest,
  "site/index.html": page,
  "site/style.css": style,
  ".svc/agentrt/opencode.json": runtimeConfig,
  ".svc/agentrt/plugins/script.js": script,
};

/** The app in the manifest. */
export const APP = "site";
/** The model that the script stands for, as its plugin and opencode.json name it. */
export const MODEL = "demo/script";
/** The first prompt of the session. The script does its task whatever it says. */
export const TASK =
  "Greet the visitors of the page by the time of day: good morning, good afternoon, good evening.";
/** The script changes the heading to the quoted words. */
export const COMMENT = 'Please change the heading to "Hello from an agent".';
/** The line of the page that the script adds first, right below the heading. */
export const COMMENT_AT = { path: "site/index.html", line: lineOf("<h1>") + 1, side: "new" } as const;

function lineOf(text: string): number {
  return page.split("\n").findIndex((line) => line.includes(text)) + 1;
}

/** The heading of a page of the app; null if it is another page. */
export function headingOf(html: string): string | null {
  return /<h1>(.*?)<\/h1>/.exec(html)?.[1] ?? null;
}

/** Whether a page has what the task adds, and, after a review, another heading than at first. */
export function isChanged(html: string, wasReviewed: boolean): boolean {
  const heading = headingOf(html);
  return html.includes("greeting.js") && heading !== null && (!wasReviewed || heading !== headingOf(page));
}
