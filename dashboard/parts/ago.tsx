import { useEffect, useState } from "react";

const UNITS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 365 * 86_400],
  ["month", 30 * 86_400],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];
const WORDS = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const WHOLE = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const EVERY_MS = 30_000;

/** A relative time; its tooltip shows the exact one. */
export function Ago({ at }: { at: string }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  const date = new Date(at);
  return (
    <time dateTime={at} title={WHOLE.format(date)}>
      {ago((date.getTime() - now) / 1000)}
    </time>
  );
}

function ago(seconds: number): string {
  const [unit, size] = UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? ["second", 1];
  return unit === "second" ? "just now" : WORDS.format(Math.round(seconds / size), unit);
}
