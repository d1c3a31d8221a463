import { WEIGHTS } from "./constants.js";

// Colors: a mixture of a map's stops, and the ink that can be read on it.

export const VISIBLE = WEIGHTS.at(-1);

/** Red, green and blue, from 0 to 255. */
export const channels = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));

/** A color between the stops; place from 0 to 1. */
export function mixColor(stops, fraction) {
  const place = Math.min(Math.max(fraction, 0), 1) * (stops.length - 1);
  const low = Math.min(Math.floor(place), stops.length - 2);
  const [a, b] = [channels(stops[low]), channels(stops[low + 1])];
  const byte = (i) => Math.round(a[i] + (b[i] - a[i]) * (place - low)).toString(16).padStart(2, "0");
  return `#${byte(0)}${byte(1)}${byte(2)}`;
}

const inks = new Map(); // of the grounds so far: the stops give a few hundred

/** Black or white, whichever can be read better on the ground; at least 4.58 : 1. */
export function inkOn(ground) {
  if (!inks.has(ground)) {
    const [r, g, b] = channels(ground).map((x) => {
      const fraction = x / 255;
      return fraction <= 0.04045 ? fraction / 12.92 : ((fraction + 0.055) / 1.055) ** 2.4;
    });
    inks.set(ground, 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000000" : "#ffffff");
  }
  return inks.get(ground);
}
