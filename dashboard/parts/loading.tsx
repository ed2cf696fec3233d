import { useEffect, useState } from "react";

/** Data that arrives faster than this shows no indicator. */
const DELAY_MS = 300;

/** A loading indicator that appears after a short delay. */
export function Loading({ what = "Loading" }: { what?: string }) {
  const [isSlow, setIsSlow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setIsSlow(true), DELAY_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <p role="status" className="py-6 text-muted">
      {isSlow ? `${what} …` : ""}
    </p>
  );
}
