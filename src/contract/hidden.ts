/**
 * Invisible characters that affect how text is displayed: control characters, direction marks, other formatting characters
 * (U+2065 and U+FFF0 to U+FFF8 are reserved for more), line separators and lone surrogates. Joiners are not included,
 * because emoji and several scripts need them.
 */
export const HIDDEN =
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u2065\ufff0-\ufff8\u{e0000}-\u{e0fff}]|(?![\u00ad\u200c\u200d])\p{Cf}/gu;
/** The same without line feed and tab. */
export const HIDDEN_IN_TEXT =
  /(?![\n\t])[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u2065\ufff0-\ufff8\u{e0000}-\u{e0fff}]|(?![\u00ad\u200c\u200d])\p{Cf}/gu;
