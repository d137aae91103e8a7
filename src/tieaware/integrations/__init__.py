"""One module for each tool that needs one; docs/tools/README.md lists them, with the recipes for other tools.

``import tieaware`` imports none of these modules. A module whose tool is not installed raises an error that names the
package to install.
"""
