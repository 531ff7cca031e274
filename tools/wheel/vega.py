"""Writes the charts library of reports: Vega, Vega-Lite and Vega-Embed in one script, as vl-convert bundles them.

Run before a package is built, so that it need not depend on vl-convert, which takes 84 MB where it is installed.
"""

from pathlib import Path

import vl_convert

BUNDLE = Path(__file__).parents[2] / "python" / "octavo" / "report" / "page" / "vega.js"
LICENCE = """\
/* Vega, Vega-Lite, Vega-Embed and what they are made of: Copyright (c) 2015-2026 University of Washington Interactive
   Data Lab and contributors, BSD-3-Clause (https://github.com/vega/vega/blob/main/LICENSE); parts by others under ISC,
   MIT and BSD-3-Clause licences. Bundled by vl-convert (BSD-3-Clause). */
"""

if __name__ == "__main__":
    BUNDLE.write_text(LICENCE + vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"), encoding="utf-8")
