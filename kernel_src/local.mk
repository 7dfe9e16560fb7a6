# SPDX-License-Identifier: MIT
# The kernel texts, in the order of their layers, and how they get into the
# library. Each must be listed here.
kernel_src = \
	kernel_src/base/types.cuh

EXTRA_DIST = $(kernel_src) kernel_src/embed.sh
CLEANFILES += lib/kernel_text.c

lib/kernel_text.c: $(kernel_src) kernel_src/embed.sh kernel_src/local.mk
	$(AM_V_GEN)$(MKDIR_P) $(@D) && \
	SED='$(SED)' $(SHELL) $(srcdir)/kernel_src/embed.sh $(srcdir) \
	    $(kernel_src) >$@-t && \
	mv -f $@-t $@
