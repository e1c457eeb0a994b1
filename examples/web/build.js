// `npm run build` puts the page into dist/: one script, one style sheet, one document.

import { copyFile, mkdir } from "node:fs/promises";
import { build } from "esbuild";

await mkdir("dist", { recursive: true });
await build({
  entryPoints: ["src/main.ts"],
  outfile: "dist/main.js",
  bundle: true,
  format: "esm",
  minify: true,
  target: "es2022",
  legalComments: "none",
  logLevel: "warning",
});
await Promise.all(
  ["index.html", "style.css", "icon.svg"].map((file) => copyFile(`src/${file}`, `dist/${file}`)),
);
