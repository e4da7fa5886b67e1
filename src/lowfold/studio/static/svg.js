// A picture as SVG.
import { CORNERS, css } from "./scatter.js";

/** The picture as SVG: shapes up to 20,000 points, beyond that the pixels. @param {import("./scatter.js").Scatter} picture */
export function svg(picture) {
  const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${picture.w} ${picture.h}" width="${picture.w}" height="${picture.h}"><rect width="100%" height="100%" fill="${css("--back")}"/>`;
  if (picture.n > 20000) return `${head}<image width="${picture.w}" height="${picture.h}" href="${picture.base.toDataURL("image/png")}"/></svg>`;
  const { groups, looks } = picture.colouring, r = picture.size, parts = [];
  for (let i = 0; i < picture.n; i++) {
    const [x, y] = picture.at(i);
    if (x !== x) continue;
    const look = looks[groups[i]] || { color: css("--soft"), shape: 0 }, faint = picture.chosen && !picture.chosen[i] ? ' opacity=".15"' : "";
    const corners = CORNERS[look.shape];
    if (corners) {
      const path = corners.map((v, k) => ((k % 2 ? y : x) + v * r).toFixed(1)).join(" ");
      parts.push(`<polygon points="${path}" fill="${look.color}"${faint}/>`);
    } else if (look.shape === 2) parts.push(`<rect x="${(x - 0.9 * r).toFixed(1)}" y="${(y - 0.9 * r).toFixed(1)}" width="${(1.8 * r).toFixed(1)}" height="${(1.8 * r).toFixed(1)}" fill="${look.color}"${faint}/>`);
    else parts.push(`<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="${r.toFixed(1)}" fill="${look.color}"${faint}/>`);
  }
  return `${head}${parts.join("")}</svg>`;
}
