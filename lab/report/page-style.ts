import { paletteStyle } from './palette.js';

/** The style of a page: a quiet column of text, tables and charts, in light or dark as the reader prefers. */
export const pageStyle = (): string => `${paletteStyle(':root')}
:root{color-scheme:light dark;--line:color-mix(in srgb,var(--text) 16%,transparent);
--soft:color-mix(in srgb,var(--text) 68%,var(--background));--raised:color-mix(in srgb,var(--text) 4%,var(--background))}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1120px;padding:2.5rem 1.25rem 3rem;background:var(--background);color:var(--text);
font:15px/1.55 system-ui,-apple-system,"Segoe UI",sans-serif;overflow-wrap:break-word}
h1{margin:0;font-size:1.75rem;line-height:1.2;letter-spacing:-.015em}
h2{margin:0 0 .75rem;font-size:1.15rem;letter-spacing:-.005em}
header p{margin:.4rem 0 0;color:var(--soft)}
header{margin-bottom:1.75rem}
section{margin-top:2.5rem}
p{margin:.6rem 0;max-width:75ch}
.callout{max-width:none;margin:0 0 .75rem;padding:.8rem 1rem;border-left:4px solid var(--series-1);background:var(--raised);border-radius:0 6px 6px 0}
.callout.finding{font-size:1.08rem;font-weight:600}
.callout.good{border-color:var(--series-3);background:color-mix(in srgb,var(--series-3) 12%,var(--background))}
.callout.bad{border-color:var(--bad);background:color-mix(in srgb,var(--bad) 12%,var(--background))}
.callout.warning{border-color:var(--bad)}
.callout.good strong{color:var(--series-3)}
.callout.bad strong{color:var(--bad)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(170px,1fr));gap:.75rem;margin:1.25rem 0}
.tiles div{padding:.8rem 1rem;border:1px solid var(--line);border-radius:8px}
.tiles dt{color:var(--soft);font-size:.82rem}
.tiles dd{margin:.15rem 0 0;font-size:1.35rem;font-weight:600;line-height:1.25;font-variant-numeric:tabular-nums}
.tiles small{display:block;font-size:.8rem;font-weight:400;color:var(--soft)}
nav ul{columns:2 22rem;padding-left:1.2rem}
a{color:var(--series-1)}
.scroll{overflow-x:auto;max-width:100%}
pre{overflow-x:auto}
.wide svg.chart{min-width:460px}
.page .wide svg.chart{min-width:900px}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.9rem}
figure.table{margin:1.25rem 0}
figure.table figcaption{margin:0 0 .25rem}
th,td{padding:.32rem .7rem;text-align:right;white-space:nowrap;border-bottom:1px solid var(--line)}
th{font-weight:600}
thead th{color:var(--soft);font-weight:500}
thead td,thead th[scope=colgroup]{border-bottom:0;padding-bottom:0}
thead th[scope=colgroup]{text-align:center;font-weight:600}
th:first-child{text-align:left;padding-left:0}
tbody th{font-weight:500}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,440px),1fr));gap:1.75rem 2rem}
figure{margin:0;min-width:0}
figure.page{grid-column:1/-1}
figure svg.chart{width:100%}
figcaption{margin-top:.35rem;color:var(--soft);font-size:.87rem}
details{margin-top:.35rem;font-size:.87rem}
summary{cursor:pointer;color:var(--soft)}
:focus-visible{outline:2px solid var(--series-1);outline-offset:2px}
footer{margin-top:3rem;padding-top:1rem;border-top:1px solid var(--line);color:var(--soft);font-size:.85rem}
@media print{body{max-width:none}.scroll{overflow:visible}}
`;
