// SPDX-License-Identifier: MIT
// What a reader of the report's page gets to see, measured; evaluates to a list of findings.
(() => {
    const findings = [];
    const width = document.documentElement.clientWidth;

    const parse = (text) => {
        const parts = text.match(/[\d.]+/g).map(Number);
        return { r: parts[0], g: parts[1], b: parts[2], a: parts.length > 3 ? parts[3] : 1 };
    };
    const over = (top, below) => ({
        r: top.r * top.a + below.r * (1 - top.a), g: top.g * top.a + below.g * (1 - top.a),
        b: top.b * top.a + below.b * (1 - top.a), a: 1,
    });
    // What is behind an element: every background up to the page's, one above the other.
    const behind = (element) => {
        const layers = [];
        for (let it = element; it; it = it.parentElement)
            layers.push(parse(getComputedStyle(it).backgroundColor));
        const dark = matchMedia('(prefers-color-scheme: dark)').matches;
        const canvas = dark ? { r: 18, g: 18, b: 18, a: 1 } : { r: 255, g: 255, b: 255, a: 1 };
        return layers.reverse().reduce((below, top) => over(top, below), canvas);
    };
    const luminance = (colour) => {
        const [r, g, b] = [colour.r, colour.g, colour.b].map((value) => {
            const share = value / 255;
            return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const contrast = (one, two) => {
        const [light, dark] = [luminance(one), luminance(two)].sort((a, b) => b - a);
        return (light + 0.05) / (dark + 0.05);
    };
    const scrolls = (element) => element.closest('.wide') !== null;

    // Text: large enough, in a colour that can be told from what is behind it, within the page.
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    let texts = 0;
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const element = node.parentElement;
        const text = node.data.trim();
        if (!text || element.closest('svg')) // the words of a drawing are for screen readers
            continue;
        texts++;
        const style = getComputedStyle(element);
        const range = document.createRange();
        range.selectNodeContents(node);
        const box = range.getBoundingClientRect();
        const what = text.slice(0, 40);
        if (parseFloat(style.fontSize) < 10)
            findings.push(`text of ${style.fontSize}: ${what}`);
        if (box.width < 1 || box.height < 1 || style.visibility !== 'visible')
            findings.push(`text that is not seen: ${what}`);
        if (!scrolls(element) && (box.left < -0.5 || box.right > width + 0.5))
            findings.push(`text beyond the edge, from ${box.left} to ${box.right}: ${what}`);
        const ground = behind(element);
        const ratio = contrast(over(parse(style.color), ground), ground);
        if (ratio < 4.5)
            findings.push(`contrast of ${ratio.toFixed(2)}: ${what}`);
    }

    // The body does not scroll sideways.
    for (const element of [document.documentElement, document.body]) {
        if (element.scrollWidth > width)
            findings.push(`${element.tagName} is ${element.scrollWidth} wide, not ${width}`);
    }

    // Charts: boxes with something drawn in them, in a colour that is seen.
    const charts = [...document.querySelectorAll('svg')];
    for (const svg of charts) {
        const box = svg.getBoundingClientRect();
        const title = svg.querySelector('title').textContent;
        if (box.width < 100 || box.height < 60)
            findings.push(`chart of ${box.width} by ${box.height}: ${title}`);
        const lines = [...svg.querySelectorAll('path.line')];
        if (lines.length === 0 || !lines.some((line) => line.getTotalLength() > 0))
            findings.push(`chart without a line: ${title}`);
        for (const line of lines) {
            const style = getComputedStyle(line);
            if (line.getTotalLength() === 0)
                continue;
            if (style.stroke === 'none' || parseFloat(style.strokeWidth) < 1 ||
                contrast(parse(style.stroke), behind(svg.parentElement)) < 3)
                findings.push(`line that is not seen, ${style.stroke}: ${title}`);
        }
    }

    // Words of others stay where they stand: they neither run nor turn what is around them.
    if (document.scripts.length > 0 || window.ran)
        findings.push('a script');
    for (const element of document.querySelectorAll('code')) {
        if (!getComputedStyle(element).unicodeBidi.includes('isolate'))
            findings.push('code that turns the words around it');
    }
    return { findings, texts, charts: charts.length, text: document.body.innerText,
             ground: luminance(behind(document.body)) };
})()
